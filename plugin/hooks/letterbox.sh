#!/bin/sh
# leftoff's letterbox: letterbox.sh AGENT EVENT, the agent's JSON on standard input.
# It keeps the event as a file, prints the reply that waits for this folder and session, wakes
# settle and ends. It looks nothing up, never waits and never fails: the agent is at work.
umask 077
[ -n "${LEFTOFF_HOME-}${XDG_STATE_HOME-}${HOME-}" ] || exit 0
state=${LEFTOFF_HOME:-${XDG_STATE_HOME:-${HOME-}/.local/state}/leftoff}
# Settings of an agent may say `~`, which no shell has seen. What is no place is none of ours.
case $state in "~/"*) state=${HOME-}${state#"~"} ;; esac
case $state in /*) ;; *) exit 0 ;; esac
# In a folder of another user's, what is kept could be read, and what is started be anything.
[ -O "$state" ] || [ ! -e "$state" ] || exit 0
agent=$1 name=$2
# Shells keep the name of a link by which a folder was entered; agents tell the folder itself.
cd -P . 2>/dev/null
# What is ready for a folder lies at a level of its own, by the number of parts of its path, so that
# no folder of the user's can be taken for a mark of ours.
set -f
IFS=/
set -- $PWD
unset IFS
set +f
ready=$state/ready/$#$PWD
{ [ -f "$ready/off" ] || [ -f "$state/replies$PWD/off" ]; } && exit 0
if [ -n "${CLAUDE_PLUGIN_ROOT-}" ]; then
  # A plugin's hooks keep quiet where `leftoff init` has put the same ones into the settings.
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
# The first line names the Python, the second a file of leftoff's. A link or a FIFO is none of ours.
python= package=
if [ -f "$state/python" ] && [ ! -L "$state/python" ]; then
  { IFS= read -r python && IFS= read -r package; } 2>/dev/null <"$state/python"
fi
if [ "$name" = SessionStart ]; then
  # The one event that is answered from the present. A plugin comes without `leftoff init`, and a
  # Python may be gone.
  [ -x "$python" ] || python=$(leftoff hook-python </dev/null 2>/dev/null) || exit 0
  [ -x "$python" ] && "$python" -I -m leftoff.hooks.start "$agent" 2>/dev/null
  exit 0
fi
# Without leftoff nobody would ever read what is kept, and it is what the user typed.
[ -x "$python" ] || exit 0
if [ -z "$package" ]; then
  # Version 0.1 named only the Python. Until a session start names a file, look for leftoff there.
  set -- "${python%/*/*}"/lib*/python3*/*-packages/leftoff-*.dist-info
  package=$1
fi
[ -e "$package" ] || exit 0
session=${CLAUDE_CODE_SESSION_ID-}
case $session in *[!A-Za-z0-9_.@+=-]*) session= ;; esac
if [ -z "$session" ]; then
  # Whoever does not name the session here names it in the JSON: looked up where any reply waits.
  set -- "$ready/$agent.$name."*
  event=$state/spool/$$
  # Never over a file that is there: containers with one home may have the same pid at once.
  set -C
  if [ -e "$1" ] && [ ! -e "$event" ] && cat >"$event"; then
    session=$(head -c 4096 "$event" | tr -d '\000')
    exec <"$event"
    rm -f "$event"
    case $session in
      *'"session_id":'*) session=${session#*'"session_id":'} session=${session#*'"'} ;;
      *) session= ;;
    esac
    session=${session%%'"'*}
    case $session in *[!A-Za-z0-9_.@+=-]*) session= ;; esac
    [ -e "$ready/$agent.$name.$session" ] || [ -e "$ready/$agent.$name.$session.ask" ] || session=
  fi 2>/dev/null
fi
reply=$ready/$agent.$name.${session:-any}
if [ -f "$reply.ask" ] && [ ! -L "$reply.ask" ]; then
  # Rare: the reply depends on the words of the prompt.
  "$python" -I -m leftoff.hooks.answer "$agent" "$name" "$reply.ask" 2>/dev/null
  exit 0
fi
# A process that has ended but that nobody has asked about yet, as in many containers, is dead.
is_alive() {
  case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
  kill -0 "$1" || return 1
  ! read -r stat <"/proc/$1/stat" || case $stat in *") Z "*) return 1 ;; esac
}

# settle removes its mark before it looks into the spool for the last time, so an event kept while
# the mark is there is always seen. The mark holds for some seconds from when it was last written:
# its pid may be anybody's by now. Without such a clock the pid alone must do.
wake_settle() {
  now=
  read -r now 2>/dev/null </proc/uptime && now=${now%%.*}
  if [ -f "$state/settling" ] && [ ! -L "$state/settling" ]; then
    read -r pid until rest <"$state/settling"
    if is_alive "$pid"; then
      [ -n "$now" ] || return
      [ "$until" -gt "$now" ] && [ "$until" -le $((now + 10)) ] && return
    fi
  fi 2>/dev/null
  # Of many events at once one wakes settle: the first in these five seconds, or the first after the
  # settle that was started has died. A claim made at the end of the five seconds before still holds.
  claim=
  if [ -n "$now" ]; then
    set -C
    claim=$state/waking.$((now / 5 - 1))
    while [ -f "$claim" ] && read -r pid <"$claim"; do
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
  # Nobody settles. If that has been so for very long, enough is kept.
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
# Only a regular file is a mark of ours.
if [ ! -f "$state/full" ] || [ -L "$state/full" ]; then
  [ -d "$state/spool" ] || mkdir -p "$state/spool" 2>/dev/null
  [ ! -L "$state/spool" ] || exit 0
  # `true >` with noclobber makes a file that nobody else has; a pid can come round again. Should
  # the event be cut off, its name still says of which session it was.
  set -C
  case $session in *.*) told= ;; *) told=${session:+.$session} ;; esac
  n=0
  event=$state/spool/$agent.$name.$$.0$told
  until [ ! -e "$event" ] && true >"$event"; do
    n=$((n + 1))
    event=$state/spool/$agent.$name.$$.$n$told
    [ "$n" -gt 9 ] && break
  done 2>/dev/null
  # Before the event is written: if this process is killed meanwhile, settle finds what there is of
  # it, and waits for the rest while the process lives.
  wake_settle
  if [ "$n" -gt 9 ] || ! cat >>"$event"; then
    # The disk is full: what was written of it stays, and doctor tells.
    [ -e "$state/lost" ] || true >"$state/lost"
  fi 2>/dev/null
else
  wake_settle
fi
if [ -f "$reply" ] && [ ! -L "$reply" ]; then
  IFS= read -r line 2>/dev/null <"$reply" && printf '%s\n' "$line"
fi
exit 0
