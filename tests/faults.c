/* Lets file operations below one folder fail, those of C libraries such as SQLite included.
 *
 * Loaded with LD_PRELOAD. A process asks for what it wants to lack with faults_lack, and for one
 * failing call with faults_arm; LEFTOFF_LACKS="FOLDER|MASK" does the former from the start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 1, CAREFUL_RENAMES = 2, LOCKS = 4, FOLDER_SYNC = 8 };
enum { SHORT = -1 };

enum { MOST_CALLS = 1 << 14 };

static char scope[PATH_MAX];
static int lacking, armed_at, armed_code, is_sticky, seen;
static unsigned place;
/* Which function was called for which file; equal numbers are equal calls. */
unsigned faults_kinds[MOST_CALLS];

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void faults_lack(const char *folder, int mask) {
  snprintf(scope, sizeof scope, "%s", folder);
  lacking = mask;
}

void faults_arm(const char *folder, int at, int code, int sticky) {
  snprintf(scope, sizeof scope, "%s", folder);
  armed_at = at, armed_code = code, is_sticky = sticky, seen = 0;
}

int faults_seen(void) { return seen; }

__attribute__((constructor)) static void lack_from_environment(void) {
  const char *told = getenv("LEFTOFF_LACKS"), *end = told ? strrchr(told, '|') : NULL;
  if (!end || end - told >= PATH_MAX) return;
  memcpy(scope, told, end - told), scope[end - told] = 0;
  lacking = atoi(end + 1);
}

static unsigned hash(unsigned start, const char *text) {
  for (; *text; text++) start = start * 33 + (unsigned char)*text;
  return start;
}

static int below(const char *path) {
  place = hash(5381, path);
  return scope[0] && !strncmp(path, scope, strlen(scope));
}

static int is_ours(int folder, const char *path) {
  if (!scope[0]) return 0;
  if (path[0] == '/') return below(path);
  char link[64], base[PATH_MAX];
  if (folder == AT_FDCWD) {
    int is_below = getcwd(base, sizeof base) && below(base);
    place = hash(place, path);
    return is_below;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = readlink(link, base, sizeof base - 1);
  base[size > 0 ? size : 0] = 0;
  int is_below = below(base);
  place = hash(place, path);
  return is_below;
}

static int fd_is_ours(int fd) { return is_ours(fd, ""); }

/* Says whether this call fails, or with SHORT that it does half of its work. */
static int is_due(const char *call) {
  if (!armed_at) return 0;
  if (seen < MOST_CALLS) faults_kinds[seen] = hash(place, call);
  seen++;
  return seen == armed_at || (is_sticky && seen > armed_at);
}

static int fails_in(const char *call) {
  if (!is_due(call) || armed_code == SHORT) return 0;
  errno = armed_code;
  return 1;
}

#define fails() fails_in(__func__)

static int lacks(int what, int code) {
  if (!(lacking & what)) return 0;
  errno = code;
  return 1;
}

static int open_in(int folder, const char *path, int flags, mode_t mode) {
  REAL(openat);
  if (is_ours(folder, path)) {
    if (fails()) return -1;
  }
  return real(folder, path, flags, mode);
}

#define MODE \
  mode_t mode = 0; \
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }

int open(const char *path, int flags, ...) { MODE return open_in(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return open_in(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) {
  MODE return open_in(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  MODE return open_in(folder, path, flags, mode);
}

/* Returns -1 if a write fails, or else how much of it is done. */
static ssize_t allowed(int fd, size_t size) {
  if (!fd_is_ours(fd) || !is_due(__func__)) return size;
  if (armed_code == SHORT) return size > 1 ? size / 2 : size;
  errno = armed_code;
  return -1;
}

ssize_t write(int fd, const void *data, size_t size) {
  REAL(write);
  ssize_t part = allowed(fd, size);
  return part < 0 ? -1 : real(fd, data, part);
}

static ssize_t write_at(int fd, const void *data, size_t size, off_t at) {
  REAL(pwrite);
  ssize_t part = allowed(fd, size);
  return part < 0 ? -1 : real(fd, data, part, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  return write_at(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
  return write_at(fd, data, size, at);
}

static ssize_t read_at(int fd, void *data, size_t size, off_t at) {
  REAL(pread);
  return fd_is_ours(fd) && fails() ? -1 : real(fd, data, size, at);
}

ssize_t pread(int fd, void *data, size_t size, off_t at) { return read_at(fd, data, size, at); }
ssize_t pread64(int fd, void *data, size_t size, off_t at) { return read_at(fd, data, size, at); }

ssize_t read(int fd, void *data, size_t size) {
  REAL(read);
  return fd_is_ours(fd) && fails() ? -1 : real(fd, data, size);
}

static int may_sync(int fd) {
  struct stat found;
  if (!fd_is_ours(fd)) return 1;
  if (!fstat(fd, &found) && S_ISDIR(found.st_mode) && lacks(FOLDER_SYNC, EINVAL)) return 0;
  return !fails();
}

int fsync(int fd) {
  REAL(fsync);
  return may_sync(fd) ? real(fd) : -1;
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return may_sync(fd) ? real(fd) : -1;
}

static int truncate_to(int fd, off_t size) {
  REAL(ftruncate);
  return fd_is_ours(fd) && fails() ? -1 : real(fd, size);
}

int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off_t size) { return truncate_to(fd, size); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
  REAL(linkat);
  if (is_ours(to, new) && (lacks(LINKS, EPERM) || fails())) return -1;
  return real(from, old, to, new, flags);
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  REAL(renameat2);
  if (is_ours(to, new) && ((flags && lacks(CAREFUL_RENAMES, EINVAL)) || fails())) return -1;
  return real(from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new) {
  return renameat2(from, old, to, new, 0);
}
int rename(const char *old, const char *new) {
  return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  return is_ours(folder, path) && fails() ? -1 : real(folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(mkdirat);
  return is_ours(folder, path) && fails() ? -1 : real(folder, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int flock(int fd, int operation) {
  REAL(flock);
  return fd_is_ours(fd) && lacks(LOCKS, ENOLCK) ? -1 : real(fd, operation);
}
