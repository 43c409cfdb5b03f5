/* Counts the file operations of a process below one folder, and kills, fails or records them.
 *
 * It is loaded with LD_PRELOAD, so it also sees the calls of C libraries such as SQLite. It does
 * nothing until a process arms it: by calling leftoff_torture_arm, or by starting with
 * LEFTOFF_TORTURE="FOLDER|KINDS|AT|ACTION|VALUE|STICKY|MARK" in its environment. In the second
 * case the file MARK is created when a call is hit, in this process or one that it started.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  OPEN = 1, CREATE = 2, READ = 4, WRITE = 8, SYNC = 16, LINK = 32, RENAME = 64, UNLINK = 128,
  MKDIR = 256, TRUNCATE = 512, LOCK = 1024, LIST = 2048
};
enum { NOTHING, KILL, HALF, FAIL, SHORT };
#define FILES 4096

static char scope[PATH_MAX], mark[PATH_MAX];
static size_t scope_length;
static unsigned armed_kinds;
static long armed_at, seen;
static int armed_action, armed_value, armed_sticky, recorder = -1;
static unsigned char is_ours[FILES];

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void leftoff_torture_arm(const char *folder, unsigned kinds, long at, int action, int value,
                         int sticky) {
  snprintf(scope, sizeof scope, "%s", folder);
  scope_length = strlen(scope);
  armed_kinds = kinds, armed_at = at, armed_action = action, armed_value = value;
  armed_sticky = sticky, seen = 0;
}

long leftoff_torture_count(void) { return seen; }

void leftoff_torture_record(const char *folder, int descriptor) {
  snprintf(scope, sizeof scope, "%s", folder);
  scope_length = strlen(scope);
  recorder = descriptor;
}

__attribute__((constructor)) static void arm_from_environment(void) {
  const char *orders = getenv("LEFTOFF_TORTURE");
  if (!orders) return;
  const char *end = strchr(orders, '|');
  if (!end || end - orders >= PATH_MAX) return;
  char folder[PATH_MAX];
  memcpy(folder, orders, end - orders), folder[end - orders] = 0;
  unsigned kinds;
  long at;
  int action, value, sticky, rest = 0;
  if (sscanf(end + 1, "%u|%ld|%d|%d|%d|%n", &kinds, &at, &action, &value, &sticky, &rest) < 5) return;
  snprintf(mark, sizeof mark, "%s", rest ? end + 1 + rest : "");
  leftoff_torture_arm(folder, kinds, at, action, value, sticky);
}

static int is_busy(void) { return armed_action != NOTHING || recorder >= 0; }

/* Makes a path absolute without resolving links in it. */
static void resolve(int folder, const char *path, char *into) {
  char base[PATH_MAX] = "";
  if (path[0] == '/') {
    snprintf(into, PATH_MAX, "%s", path);
    return;
  }
  if (folder == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) base[0] = 0;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(link, base, sizeof base - 1);
    base[size > 0 ? size : 0] = 0;
  }
  if (!strcmp(path, ".")) {
    snprintf(into, PATH_MAX, "%s", base);
    return;
  }
  size_t length = strlen(base);
  snprintf(into, PATH_MAX, "%s", base);
  snprintf(into + length, PATH_MAX - length, "/%s", path);
}

static int in_scope(int folder, const char *path) {
  if (!is_busy() || !path) return 0;
  char full[PATH_MAX];
  resolve(folder, path, full);
  return !strncmp(full, scope, scope_length);
}

static int fd_in_scope(int fd) { return is_busy() && fd >= 0 && fd < FILES && is_ours[fd]; }

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

/* Counts a call and returns what happens to it: NOTHING or one of the actions. */
static int due(unsigned kind) {
  if (armed_action == NOTHING || !(armed_kinds & kind)) return NOTHING;
  seen++;
  if (seen < armed_at || (seen > armed_at && !armed_sticky)) return NOTHING;
  /* This library does not wrap creat, so the call is not counted. */
  if (mark[0]) close(creat(mark, 0600));
  return armed_action;
}

/* Kills the process, or returns -1 if the call must fail. */
static int trouble(unsigned kind) {
  switch (due(kind)) {
    case KILL: case HALF: die(); break;
    case FAIL: errno = armed_value; return -1;
  }
  return 0;
}

static void note(const char *format, ...) {
  if (recorder < 0) return;
  int before = errno;
  va_list values;
  va_start(values, format);
  vdprintf(recorder, format, values);
  va_end(values);
  errno = before;
}

static unsigned long inode(int fd) {
  struct stat found;
  return fstat(fd, &found) ? 0 : (unsigned long)found.st_ino;
}

static int is_folder(int fd) {
  struct stat found;
  return !fstat(fd, &found) && S_ISDIR(found.st_mode);
}

static unsigned long inode_at(int folder, const char *path, int flags) {
  struct stat found;
  return fstatat(folder, path, &found, flags) ? 0 : (unsigned long)found.st_ino;
}

static void opened(int fd, int folder, const char *path, int flags, unsigned long before) {
  if (fd < 0 || fd >= FILES) return;
  is_ours[fd] = 1;
  if (recorder < 0) return;
  char full[PATH_MAX];
  resolve(folder, path, full);
  if ((flags & O_TMPFILE) == O_TMPFILE) note("N %lu\n", inode(fd));
  else if ((flags & O_CREAT) && !before) note("C %lu %s\n", inode(fd), full);
  else if (flags & O_TRUNC) note("T %lu 0\n", inode(fd));
  if (is_folder(fd)) note("D %lu %s\n", inode(fd), full);
}

static int open_in(int folder, const char *path, int flags, mode_t mode) {
  REAL(openat);
  if (!in_scope(folder, path)) {
    int other = real(folder, path, flags, mode);
    if (other >= 0 && other < FILES) is_ours[other] = 0;
    return other;
  }
  int writes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
  if (trouble(writes ? CREATE : OPEN)) return -1;
  unsigned long before = recorder >= 0 ? inode_at(folder, path, AT_SYMLINK_NOFOLLOW) : 0;
  int fd = real(folder, path, flags, mode);
  int after = errno;
  opened(fd, folder, path, flags, before);
  errno = after;
  return fd;
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
int openat(int folder, const char *path, int flags, ...) {
  MODE return open_in(folder, path, flags, mode);
}
int open64(const char *path, int flags, ...) { MODE return open_in(AT_FDCWD, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) {
  MODE return open_in(folder, path, flags, mode);
}

int close(int fd) {
  REAL(close);
  if (fd >= 0 && fd < FILES) is_ours[fd] = 0;
  return real(fd);
}

DIR *opendir(const char *path) {
  REAL(opendir);
  if (in_scope(AT_FDCWD, path) && trouble(LIST)) return NULL;
  return real(path);
}

static ssize_t real_write(int fd, const void *data, size_t size) {
  REAL(write);
  return real(fd, data, size);
}

static ssize_t real_pwrite(int fd, const void *data, size_t size, off_t at) {
  REAL(pwrite);
  return real(fd, data, size, at);
}

static void note_write(int fd, const void *data, ssize_t size, off_t at) {
  if (recorder < 0 || size <= 0) return;
  int before = errno;
  note("W %lu %ld %ld\n", inode(fd), (long)at, (long)size);
  for (ssize_t done = 0, n; done < size; done += n)
    if ((n = real_write(recorder, (const char *)data + done, size - done)) <= 0) break;
  note("\n");
  errno = before;
}

static off_t place_of(int fd) {
  struct stat found;
  if (fcntl(fd, F_GETFL) & O_APPEND) return fstat(fd, &found) ? 0 : found.st_size;
  return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t size) {
  if (!fd_in_scope(fd)) return real_write(fd, data, size);
  switch (due(WRITE)) {
    case KILL: die(); break;
    case HALF: real_write(fd, data, size / 2); die(); break;
    case FAIL: errno = armed_value; return -1;
    case SHORT: if (size > 1) size /= 2; break;
  }
  off_t at = recorder >= 0 ? place_of(fd) : 0;
  ssize_t done = real_write(fd, data, size);
  note_write(fd, data, done, at);
  return done;
}

static ssize_t write_at(int fd, const void *data, size_t size, off_t at) {
  if (!fd_in_scope(fd)) return real_pwrite(fd, data, size, at);
  switch (due(WRITE)) {
    case KILL: die(); break;
    case HALF: real_pwrite(fd, data, size / 2, at); die(); break;
    case FAIL: errno = armed_value; return -1;
    case SHORT: if (size > 1) size /= 2; break;
  }
  ssize_t done = real_pwrite(fd, data, size, at);
  note_write(fd, data, done, at);
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  return write_at(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
  return write_at(fd, data, size, at);
}

ssize_t read(int fd, void *data, size_t size) {
  REAL(read);
  if (fd_in_scope(fd)) switch (due(READ)) {
    case KILL: case HALF: die(); break;
    case FAIL: errno = armed_value; return -1;
    case SHORT: if (size > 1) size /= 2; break;
  }
  return real(fd, data, size);
}

static ssize_t read_at(int fd, void *data, size_t size, off_t at) {
  REAL(pread);
  if (fd_in_scope(fd) && trouble(READ)) return -1;
  return real(fd, data, size, at);
}

ssize_t pread(int fd, void *data, size_t size, off_t at) { return read_at(fd, data, size, at); }
ssize_t pread64(int fd, void *data, size_t size, off_t at) { return read_at(fd, data, size, at); }

int fsync(int fd) {
  REAL(fsync);
  if (!fd_in_scope(fd)) return real(fd);
  if (trouble(SYNC)) return -1;
  int result = real(fd);
  if (!result) note("S %lu\n", inode(fd));
  return result;
}

int fdatasync(int fd) {
  REAL(fdatasync);
  if (!fd_in_scope(fd)) return real(fd);
  if (trouble(SYNC)) return -1;
  int result = real(fd);
  if (!result) note("S %lu\n", inode(fd));
  return result;
}

static int truncate_to(int fd, off_t size) {
  REAL(ftruncate);
  if (!fd_in_scope(fd)) return real(fd, size);
  if (trouble(TRUNCATE)) return -1;
  int result = real(fd, size);
  if (!result) note("T %lu %ld\n", inode(fd), (long)size);
  return result;
}

int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off_t size) { return truncate_to(fd, size); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
  REAL(linkat);
  if (!in_scope(to, new)) return real(from, old, to, new, flags);
  if (trouble(LINK)) return -1;
  int result = real(from, old, to, new, flags);
  if (!result && recorder >= 0) {
    char full[PATH_MAX];
    resolve(to, new, full);
    note("L %lu %s\n", inode_at(to, new, AT_SYMLINK_NOFOLLOW), full);
  }
  return result;
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  REAL(renameat2);
  if (!in_scope(to, new) && !in_scope(from, old)) return real(from, old, to, new, flags);
  if (trouble(RENAME)) return -1;
  int result = real(from, old, to, new, flags);
  if (!result && recorder >= 0) {
    char source[PATH_MAX], target[PATH_MAX];
    resolve(from, old, source), resolve(to, new, target);
    note("R %s\n", source), note("  %s\n", target);
  }
  return result;
}

int renameat(int from, const char *old, int to, const char *new) {
  return renameat2(from, old, to, new, 0);
}
int rename(const char *old, const char *new) {
  return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  if (!in_scope(folder, path)) return real(folder, path, flags);
  if (trouble(UNLINK)) return -1;
  int result = real(folder, path, flags);
  if (!result && recorder >= 0) {
    char full[PATH_MAX];
    resolve(folder, path, full);
    note("%s %s\n", flags & AT_REMOVEDIR ? "X" : "U", full);
  }
  return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(mkdirat);
  if (!in_scope(folder, path)) return real(folder, path, mode);
  if (trouble(MKDIR)) return -1;
  int result = real(folder, path, mode);
  if (!result && recorder >= 0) {
    char full[PATH_MAX];
    resolve(folder, path, full);
    note("M %s\n", full);
  }
  return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int flock(int fd, int operation) {
  REAL(flock);
  if (fd_in_scope(fd) && operation != LOCK_UN && trouble(LOCK)) return -1;
  return real(fd, operation);
}
