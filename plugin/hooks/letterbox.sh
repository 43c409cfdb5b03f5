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
# Shells keep the name of a link by which a folder was entered; agents tell the folder itself.
cd -P . 2>/dev/null
[ -e "$state/replies$PWD/off" ] && exit 0
if [ -n "${CLAUDE_PLUGIN_ROOT-}" ]; then
  # A plugin's hooks keep quiet where `leftoff init` has put the same ones into the settings.
  { [ -e "$state/wired.$1" ] || [ -e "$state/replies$PWD/wired.$1" ]; } && exit 0
  # Without leftoff nobody would ever read what is kept.
  [ -e "$state/python" ] || [ "$2" = SessionStart ] || exit 0
fi
if [ -n "${LEFTOFF_DISABLED_HOOKS-}" ]; then
  case $2 in
    SessionStart) name=session-start ;;
    UserPromptSubmit) name=prompt ;;
    Stop) name=stop ;;
    StopFailure) name=failure ;;
    PreCompact) name=pre-compact ;;
    SessionEnd) name=session-end ;;
    PreToolUse) name=pre-tool ;;
    PostToolUse) name=post-tool ;;
    Notification) name=idle ;;
    *) name=$2 ;;
  esac
  case ",$LEFTOFF_DISABLED_HOOKS," in *[,\ ]"$name"[,\ ]*) exit 0 ;; esac
fi
read -r python 2>/dev/null <"$state/python" || python=
if [ "$2" = SessionStart ]; then
  # The one event that is answered from the present. A plugin comes without `leftoff init`, and a
  # Python may be gone.
  [ -x "$python" ] || python=$(leftoff hook-python </dev/null 2>/dev/null) || exit 0
  [ -x "$python" ] && "$python" -I -m leftoff.hooks.start "$1" 2>/dev/null
  exit 0
fi
session=${CLAUDE_CODE_SESSION_ID-}
if [ -z "$session" ]; then
  # Whoever does not name the session here names it in the JSON: looked up where any reply waits.
  set -- "$1" "$2" "$state/replies$PWD/$1.$2."*
  event=$state/spool/$$
  # Never over a file that is there: containers with one home may have the same pid at once.
  set -C
  if [ -e "$3" ] && cat >"$event"; then
    session=$(head -c 4096 "$event" | tr -d '\000')
    exec <"$event"
    rm -f "$event"
    case $session in
      *'"session_id":'*) session=${session#*'"session_id":'} session=${session#*'"'} ;;
      *) session= ;;
    esac
    session=${session%%'"'*}
    case $session in *[!A-Za-z0-9_.@+=-]*) session= ;; esac
    own=$state/replies$PWD/$1.$2.$session
    [ -e "$own" ] || [ -e "$own.ask" ] || session=
  fi 2>/dev/null
fi
reply=$state/replies$PWD/$1.$2.${session:-any}
if [ -f "$reply.ask" ] && [ -n "$python" ]; then
  # Rare: the reply depends on the words of the prompt.
  "$python" -I -m leftoff.hooks.answer "$1" "$2" "$reply.ask" 2>/dev/null
  exit 0
fi
# `true >` with noclobber makes a file that nobody else has; a pid can come round again.
set -C
n=0
until true >"$state/spool/$1.$2.$$.$n"; do
  n=$((n + 1))
  [ -d "$state/spool" ] || mkdir -p "$state/spool"
  [ "$n" -gt 9 ] && exit 0
done 2>/dev/null
cat >>"$state/spool/$1.$2.$$.$n" 2>/dev/null
if [ -f "$reply" ]; then
  IFS= read -r line 2>/dev/null <"$reply" && printf '%s\n' "$line"
fi
# settle removes its mark before it looks into the spool for the last time, so an event kept while
# the mark is there is always seen.
read -r pid 2>/dev/null <"$state/settling" && kill -0 "$pid" 2>/dev/null && exit 0
[ -n "$python" ] || exit 0
if command -v setsid >/dev/null; then
  setsid "$python" -I -m leftoff.hooks.settle "$state" </dev/null >/dev/null 2>&1 &
else
  "$python" -I -m leftoff.hooks.settle "$state" </dev/null >/dev/null 2>&1 &
fi
exit 0
