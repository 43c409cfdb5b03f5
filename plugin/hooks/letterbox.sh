#!/bin/sh
# leftoff's letterbox: letterbox.sh AGENT EVENT, with the agent's JSON on standard input.
# It stores the event as a file, prints the prepared reply for this folder and session, starts
# settle and ends. The agent is waiting, so it computes nothing, never blocks and never fails.
umask 077
[ -n "${LEFTOFF_HOME-}${XDG_STATE_HOME-}${HOME-}" ] || exit 0
state=${LEFTOFF_HOME:-${XDG_STATE_HOME:-${HOME-}/.local/state}/leftoff}
# An agent's settings may contain `~`, which no shell has expanded. A relative path is refused.
case $state in "~/"*) state=${HOME-}${state#"~"} ;; esac
case $state in /*) ;; *) exit 0 ;; esac
# Another user could read events in their folder, and could make us start any program from there.
[ -O "$state" ] || [ ! -e "$state" ] || exit 0
agent=$1 name=$2
# Copilot, Gemini and Cursor can run the hooks of Claude Code, and have their own.
case $agent in
  claude) [ -z "${COPILOT_PROJECT_DIR-}${GEMINI_SESSION_ID-}${CURSOR_VERSION-}" ] || exit 0 ;;
  # Cursor runs the user's hooks in the folder of its settings.
  cursor) cd -- "${CURSOR_PROJECT_DIR:-.}" 2>/dev/null || exit 0 ;;
esac
# A shell remembers the link through which it entered a folder; agents report the folder itself.
cd -P . 2>/dev/null
# The replies for a folder are below a level named after the number of parts of its path, so that no
# folder of the user can be mistaken for a mark.
set -f
IFS=/
set -- $PWD
unset IFS
set +f
ready=$state/ready/$#$PWD
{ [ -f "$ready/off" ] || [ -f "$state/replies$PWD/off" ]; } && exit 0
if [ -n "${CLAUDE_PLUGIN_ROOT-}" ]; then
  # The plugin's hooks do nothing if `leftoff init` has added the same hooks to the settings.
  { [ -e "$state/wired.$agent" ] || [ -f "$ready/wired.$agent" ]; } && exit 0
  [ -f "$state/replies$PWD/wired.$agent" ] && exit 0
fi
if [ -n "${LEFTOFF_DISABLED_HOOKS-}" ]; then
  case $name in
    SessionStart) kind=session-start ;;
    UserPromptSubmit) kind=prompt ;;
    Stop) kind=stop ;;
    StopFailure) kind=failure ;;
    PreCompact) kind=pre-compact ;;
    SessionEnd) kind=session-end ;;
    PreToolUse) kind=pre-tool ;;
    PostToolUse) kind=post-tool ;;
    Notification) kind=idle ;;
    *) kind=$name ;;
  esac
  case ",$LEFTOFF_DISABLED_HOOKS," in *[,\ ]"$kind"[,\ ]*) exit 0 ;; esac
fi
# A shell cannot limit how much it reads. No path is so long, so this file is damaged.
[ "$name" != SessionStart ] || find "$state/python" -type f -size +64 -exec rm {} + 2>/dev/null
# The first line names the Python, the second a file of the package. Links and FIFOs are ignored.
python= package=
if [ -f "$state/python" ] && [ ! -L "$state/python" ]; then
  { IFS= read -r python && IFS= read -r package; } 2>/dev/null <"$state/python"
fi
if [ "$name" = SessionStart ]; then
  # The only event whose reply is made now. With a plugin, `leftoff init` may never have run, and
  # the recorded Python may be gone.
  [ -x "$python" ] || python=$(leftoff hook-python </dev/null 2>/dev/null) || exit 0
  [ -x "$python" ] || exit 0
  # Gemini CLI may send its first prompt while this runs. That prompt then waits for it.
  starting=
  case $agent.${GEMINI_SESSION_ID-} in
    gemini. | *[!A-Za-z0-9_.@+=-]*) ;;
    gemini.*)
      starting=$ready/gemini.UserPromptSubmit.$GEMINI_SESSION_ID.starting
      { [ -d "$ready" ] || mkdir -p "$ready"; [ -e "$starting" ] || true >"$starting"; } 2>/dev/null ;;
  esac
  "$python" -I -m leftoff.hooks.start "$agent" 2>/dev/null
  [ -z "$starting" ] || rm -f "$starting"
  exit 0
fi
# Without leftoff nothing would process the event, and it holds what the user typed.
[ -x "$python" ] || exit 0
if [ -z "$package" ]; then
  # Version 0.1 named only the Python. Until a session start names a file, look for leftoff there.
  # An editable install has only metadata, named `leftoff` in 0.1: now that is another program.
  for package in "${python%/*/*}"/lib*/python3*/*-packages/leftoff/hooks/settle.py \
    "${python%/*/*}"/lib*/python3*/*-packages/leftoff_agents-*.dist-info \
    "${python%/*/*}"/lib*/python3*/*-packages/leftoff-0.1.0.dist-info; do
    [ ! -e "$package" ] || break
  done
fi
[ -e "$package" ] || exit 0
# An agent in the shell of another one inherits that one's variables, so each has its own.
case $agent in
  claude) session=${CLAUDE_CODE_SESSION_ID-} ;;
  gemini) session=${GEMINI_SESSION_ID-} ;;
  *) session= ;;
esac
case $session in *[!A-Za-z0-9_.@+=-]*) session= ;; esac
# Other agents name the session only in the JSON. Look there if a reply waits for any session.
find_session() {
  session=$1
  # The ids come early, and an expansion such as `${1#*X}` takes time with the square of the length.
  [ ${#session} -le 4096 ] || session=$(printf '%.4096s' "$session")
  case $session in
    *'"session_id":'*) session=${session#*'"session_id":'} session=${session#*'"'} ;;
    # Some events of Cursor have only this name.
    *'"conversation_id":'*) session=${session#*'"conversation_id":'} session=${session#*'"'} ;;
    *) session= ;;
  esac
  session=${session%%'"'*}
  case $session in *[!A-Za-z0-9_.@+=-]*) session= ;; esac
}

seeks=
if [ -z "$session" ]; then
  set -- "$ready/$agent.$name."*.ask
  if [ -e "$1" ]; then
    event=$state/spool/$$
    # Never overwrite a file: containers that share a home can have the same pid at the same time.
    set -C
    if [ ! -e "$event" ] && cat >"$event"; then
      find_session "$(head -c 4096 "$event")"
      exec <"$event"
      rm -f "$event"
      [ -e "$ready/$agent.$name.$session" ] || [ -e "$ready/$agent.$name.$session.ask" ] ||
        [ -e "$ready/$agent.$name.new.ask" ] || session=
    fi 2>/dev/null
  else
    set -- "$ready/$agent.$name."*
    [ -e "$1" ] && seeks=yes
  fi
fi
reply=$ready/$agent.$name.${session:-any}
ask=$reply.ask
if [ "$agent" = gemini ] && [ -f "$reply.starting" ] && [ ! -e "$ask" ]; then
  # The hook of its session start has not ended.
  ask=$reply.starting
elif [ -f "$ready/$agent.$name.new.ask" ] && [ ! -e "$reply" ] && [ ! -e "$ask" ] &&
  [ ! -e "$state/live/$agent-$session.json" ]; then
  # No session start announced this session.
  ask=$ready/$agent.$name.new.ask
fi
if [ -f "$ask" ] && [ ! -L "$ask" ]; then
  # Rare: the reply depends on the event itself.
  "$python" -I -m leftoff.hooks.answer "$agent" "$name" "$ask" 2>/dev/null
  exit 0
fi
# A zombie, which many containers never collect, counts as dead. It has no program any more; `read`
# takes a system call for each byte of the line that says so.
is_alive() {
  case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
  kill -0 "$1" || return 1
  [ ! -e "/proc/$1/exe" ] || return 0
  ! read -r stat <"/proc/$1/stat" || case $stat in *") Z "*) return 1 ;; esac
}

# settle removes its mark before it looks at the spool for the last time, so it sees every event
# that was stored while the mark was there. The mark is valid for some seconds after it was written,
# because another process may have its pid by now. Without a clock, only the pid is checked.
wake_settle() {
  now=
  read -r now 2>/dev/null </proc/uptime && now=${now%%.*}
  # The name of the mark is its content: a shell cannot limit how much it reads from a file.
  for mark in "$state/settling."*; do
    mark=${mark##*/settling.}
    pid=${mark%%.*} until=${mark#*.}
    until=${until%%.*}
    if is_alive "$pid"; then
      [ -n "$now" ] || return
      [ "$until" -gt "$now" ] && [ "$until" -le $((now + 10)) ] && return
    fi
  done 2>/dev/null
  # Of many events at once, only one starts settle: the first in a slot of five seconds, or the
  # first after that settle has died. A claim from the slot before is still valid.
  claim=
  if [ -n "$now" ]; then
    set -C
    claim=$state/waking.$((now / 5 - 1))
    while [ -f "$claim" ]; do
      # The process of an empty claim is starting settle right now.
      read -r pid <"$claim" || return
      is_alive "$pid" && return
      claim=$claim.$pid
    done 2>/dev/null
    claim=$state/waking.$((now / 5))
    until [ ! -e "$claim" ] && true >"$claim"; do
      [ -f "$claim" ] && read -r pid <"$claim" || return
      is_alive "$pid" && return
      claim=$claim.$pid
    done 2>/dev/null
  fi
  # No settle is running. If that lasts very long, stop storing events.
  set -- "$state/spool/"*
  if [ $# -gt 200 ] && [ ! -e "$state/full" ]; then
    set -- $# $(du -sk "$state/spool" 2>/dev/null)
    if [ "$1" -gt 20000 ] || [ "${2:-0}" -gt 262144 ]; then
      true >"$state/full"
    fi
  fi 2>/dev/null
  if command -v setsid >/dev/null; then
    setsid "$python" -I -m leftoff.hooks.settle "$state" </dev/null >/dev/null 2>&1 &
  else
    "$python" -I -m leftoff.hooks.settle "$state" </dev/null >/dev/null 2>&1 &
  fi
  [ -z "$claim" ] || printf '%s\n' "$!" 2>/dev/null >>"$claim"
}
# The disk is full. The part that was written stays, and `leftoff doctor` reports the loss.
report_loss() {
  [ -e "$state/lost" ] || true >"$state/lost"
}
# Store the event, start settle, and print the reply. Only a regular file counts as a mark.
deliver() {
  if [ ! -f "$state/full" ] || [ -L "$state/full" ]; then
    [ -d "$state/spool" ] || mkdir -p "$state/spool" 2>/dev/null
    [ ! -L "$state/spool" ] || exit 0
    # `true >` with noclobber creates a file that no other process has; pids are reused. The name
    # holds the session in case the event is cut off.
    set -C
    case $session in *.*) suffix= ;; *) suffix=${session:+.$session} ;; esac
    n=0
    event=$state/spool/$agent.$name.$$.0$suffix
    until [ ! -e "$event" ] && true >"$event"; do
      n=$((n + 1))
      event=$state/spool/$agent.$name.$$.$n$suffix
      [ "$n" -gt 9 ] && break
    done 2>/dev/null
    # Start settle before the event is written: if this process is killed, settle finds the part that
    # was written, and it waits for the rest while this process lives.
    wake_settle
    if [ "$n" -gt 9 ]; then
      report_loss
    elif [ -n "$seeks" ] || [ "$name" = PreToolUse ]; then
      # One process stores the event and hands it to the shell, which looks into it.
      payload=$(tee -a "$event") || report_loss
      if [ -n "$seeks" ]; then
        find_session "$payload"
        [ ! -e "$ready/$agent.$name.$session" ] || reply=$ready/$agent.$name.$session
      fi
      [ "$name" != PreToolUse ] || protect
    else
      cat >>"$event" || report_loss
    fi 2>/dev/null
  else
    wake_settle
  fi
  if [ -f "$reply" ] && [ ! -L "$reply" ]; then
    IFS= read -r line 2>/dev/null <"$reply" && printf '%s\n' "$line"
  fi
}
# A shell reads a script as far as it runs. What only commands need comes last:
# reading it would cost every other event time.
if [ "$name" != PreToolUse ]; then
  deliver
  exit 0
fi
# Return whether a text calls git in a way that may destroy code. A subcommand that is not listed here
# may be an alias, which can do anything; in other texts of the event, such as a description, it does
# not count.
calls_git() {
  call= inside=yes unclear=
  set -f
  for word in $1; do
    case $call$word in
      yes-C | yes-c | yes--git-dir | yes--work-tree | yes--namespace) call=value unclear=yes ;;
      yes-*) unclear=yes ;;
      yes*)
        call=
        case ${word%%[!A-Za-z0-9-]*} in
          status | add | commit | diff | log | show | push | fetch | rev-parse | ls-files | tag) ;;
          annotate | archive | blame | bundle | cat-file | check-attr | check-ignore | cherry) ;;
          clone | commit-graph | commit-tree | config | count-objects | credential | describe) ;;
          diff-files | diff-index | diff-tree | difftool | for-each-ref | format-patch | fsck) ;;
          gc | grep | hash-object | help | init | interpret-trailers | lfs | ls-remote) ;;
          ls-tree | maintenance | merge-base | merge-tree | mergetool | mktree | mv | name-rev) ;;
          pack-refs | prune | range-diff | reflog | remote | repack | replace | request-pull) ;;
          rerere | rev-list | shortlog | show-branch | show-ref | subtree | svn | symbolic-ref) ;;
          update-index | update-ref | var | verify-commit | version | whatchanged | write-tree) ;;
          # Those that only some options or words make risky, and what is quoted.
          am | bisect | branch | cherry-pick | merge | notes | pull | revert | submodule) unclear=yes ;;
          '' | sparse-checkout | -*) unclear=yes ;;
          reset | checkout | restore | clean | stash | rebase | switch | apply) set +f; return 0 ;;
          *) [ -z "$inside" ] || { set +f; return 0; } ;;
        esac ;;
      value*) call=yes ;;
    esac
    case $word in
      *command\":* | *command\\\":*) inside=yes ;;
      *\",*) case $word in *[!\\]\",*) inside= ;; esac ;;
    esac
    case $word in
      *git) case $word in git | *[!A-Za-z._-]git | *\\[nt]git) call=yes ;; esac ;;
    esac
  done
  set +f
  [ -n "$unclear" ] || return 1
  case $1 in
    *'git '*reset* | *'git '*checkout* | *'git '*restore* | *'git '*clean* | *'git '*stash*) ;;
    *'git '*rebase* | *'git '*switch* | *'git '*worktree* | *'git '*'branch -'*) ;;
    *'git '*apply* | *'git '*--abort* | *'git '*--skip* | *'git '*--quit* | *'git '*alias.*) ;;
    *'git '*read-tree* | *'git '*submodule*) ;;
    *) return 1 ;;
  esac
}
# Return whether a text names another program, or a call in a line of code, that may destroy files.
names_destroyer() {
  # Most texts have none of these. The exact patterns take longer.
  case $1 in
    *'rm '* | *'mv '* | *xargs* | *elete* | *--del* | *remove* | *truncate* | *shred* | *unlink*) ;;
    *rmtree* | *rmdir* | *rmSync* | *rimraf* | *Remove-Item*) return 0 ;;
    *'sh '* | *.sh* | */sh* | */bash* | *'|'*sh*) ;;
    *) return 1 ;;
  esac
  case $1 in
    *[!A-Za-z]'rm '* | *'\nrm '* | *'\trm '* | *[!A-Za-z]'mv '* | *'\nmv '* | *'\tmv '*) ;;
    *xargs*[!A-Za-z]rm[!A-Za-z]* | *' -delete'* | *--del* | *--remove-source* | *truncate*) ;;
    *shred* | *unlink* | *rmtree* | *rmdir* | *rmSync* | *rimraf* | *os.remove* | *File.delete*) ;;
    *Remove-Item*) ;;
    # What a script does is unknown.
    *.sh[!a-zA-Z]* | *'bash '* | *'zsh '* | *[!A-Za-z0-9_.-]'sh '* | *'\nsh '*) ;;
    *'| sh'[!A-Za-z0-9_.-]* | *'|sh'[!A-Za-z0-9_.-]* | *'/sh'[!A-Za-z0-9_.-]*) ;;
    *'| bash'[!A-Za-z0-9_.-]* | *'|bash'[!A-Za-z0-9_.-]* | *'/bash'[!A-Za-z0-9_.-]*) ;;
    *) return 1 ;;
  esac
}
# Set `words` to the command of an event, up to its first quote. An expansion such as `${1#*X}` would
# take time with the square of the length.
find_command() {
  words= part=
  set -f
  IFS='"'
  for word in $1; do
    # No word has a quote in it.
    case $part$word in
      command) part='"key' ;;
      '"key'*) part='"value' ;;
      '"value'*) words=$word; break ;;
    esac
  done
  unset IFS
  set +f
}
# Return whether a text has a `>` that may empty a file.
redirects() {
  rest=$1
  while :; do
    case $rest in *'>'*) rest=${rest#*'>'} ;; *) return 1 ;; esac
    case $rest in
      '>'*) rest=${rest#'>'} ;;
      '&'[0-9-]* | '='* | '('* | '/dev/'* | ' /dev/'*) ;;
      *) return 0 ;;
    esac
  done
}
# Return whether a text names a program that may write files in place, or a script.
names_writer() {
  case $1 in *'>'*) redirects "$1" && return 0 ;; esac
  case $1 in
    *'cp '* | *'tee '* | *' of='* | *'install '* | *'ln -'* | *'patch '* | *'tar '* | *'unzip '*)
      case $1 in
        *[!A-Za-z]'cp '* | *[!A-Za-z]'tee '* | *' of='* | *[!A-Za-z-]'patch '*) return 0 ;;
        *'"install '* | *[\;\&]' install '* | *[!A-Za-z]'ln -'*f* | *'tar '*x* | *'unzip '*-*o*) return 0 ;;
      esac ;;
  esac
  case $1 in
    *' ./'* | *'"./'* | *'n./'* | *'(./'*)
      case $1 in *'":"./'* | *'": "./'* | *[\;\&\|]' ./'* | *'\n./'* | *'(./'*) return 0 ;; esac ;;
  esac
  case $1 in
    *clean* | *mrproper* | *reset* | *wipe* | *purge* | *nuke*)
      case $1 in
        *'make '* | *'just '* | *'task '* | *'rake '* | *'npm '* | *'yarn '* | *'bun '*) return 0 ;;
      esac ;;
  esac
  case $1 in
    *python* | *pypy* | *node* | *ruby* | *perl* | *php* | *deno* | *bun* | *'sed '*)
      case $1 in
        *'sed -i'* | *'sed -'[A-Za-z]i* | *'sed -'*' -i'* | *'sed '*'--in-place'*) return 0 ;;
        *'perl -'*i* | *'ruby -i'*) return 0 ;;
        *'python '[!-]* | *'python3 '[!-]* | *'python3.'1[0-9]' '[!-]* | *pypy*' '[!-]*) return 0 ;;
        *'python -'[uBOEsIXW]* | *'python3 -'[uBOEsIXW]* | *'node -'*js*) return 0 ;;
        *'node '[!-]* | *'ruby '[!-]* | *'perl '[!-]* | *'php '[!-]*) return 0 ;;
        *'open('* | *write* | *Write* | *rename* | *.replace* | *shutil* | *subprocess*) return 0 ;;
        *system* | *Sync* | *child_process* | *put_contents*) return 0 ;;
      esac ;;
  esac
  # A program of the project: `tools/empty`.
  find_command "$1"
  case ${words%%[!A-Za-z0-9_./-]*} in /* | */bin/* | bin/* | *node_modules/*) return 1 ;; */*) return 0 ;; esac
  return 1
}
# Return whether quotes or backslashes hide a word from the patterns: `r''m`, `g\\it`, `\"rm\" x`.
hides_word() {
  case $1 in *"'"* | *'\'*) ;; *) return 1 ;; esac
  case $1 in
    *[a-z]"''"[a-z]* | *[a-z]'\"\"'[a-z]* | *[a-z]'\\'[a-z]*) ;;
    *'rm\" '* | *"rm' "* | *'mv\" '* | *"mv' "* | *'git\" '* | *"git' "*) ;;
    *) return 1 ;;
  esac
}
# Return whether a text may destroy code without a call of git.
is_other() {
  names_destroyer "$1" || names_writer "$1" || hides_word "$1"
}
# Return whether a text has a word of a command that may destroy uncommitted code. A word too many
# costs a start of Python, which reads the command exactly; a word too few can cost somebody's work.
# In JSON, `\n` or `\t` can come before a word.
is_risky() {
  case $1 in
    *'git\t'*) ;;
    *git*'git '* | *'git '*git*) calls_git "$1" || is_other "$1" || return 1 ;;
    # Frequent calls of git, without another one.
    *'git status'[!a-z-]* | *'git diff'[!a-z-]* | *'git log'[!a-z-]* | *'git add'[!a-z-]*)
      is_other "$1" || return 1 ;;
    *'git '*) calls_git "$1" || is_other "$1" || return 1 ;;
    *) is_other "$1" || return 1 ;;
  esac
  # One program that only reads is harmless, whatever words it is given. A backslash or another sign
  # can begin a second program, or end the command's text too early.
  find_command "$1"
  case $words in
    *[\\\;\&\|\`\$\(\<\>]*) ;;
    'cat '* | 'ls '* | 'head '* | 'tail '* | 'wc '* | 'grep '*) return 1 ;;
    'git add '* | 'git commit '* | 'git diff '* | 'git log '* | 'git show '*) return 1 ;;
  esac
}
# Take a snapshot before a command that may destroy code, then let the command go on. Python looks into
# a long event: matching takes time with the square of the length.
protect() {
  [ ${#payload} -gt 8192 ] || is_risky " $payload" || return
  printf '%s\n' "$payload" | "$python" -I -m leftoff.hooks.before_command "$agent" "$name" >/dev/null
}
deliver
exit 0
