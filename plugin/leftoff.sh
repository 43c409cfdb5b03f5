#!/bin/sh
# Run leftoff for a slash command: leftoff.sh COMMAND [OPTION]...
# It always exits 0, because Claude Code drops a whole slash command if a line in it fails. The
# model reads what leftoff prints and its exit code.
if ! command -v leftoff >/dev/null 2>&1; then
  echo "leftoff is not installed: run \`uv tool install leftoff-agents\` or \`pipx install leftoff-agents\`, then try again."
  exit 0
fi
# Another program has the same name, and could ask questions or write files.
case $(leftoff --version </dev/null 2>/dev/null) in
  *"(leftoff-agents)") ;;
  *)
    echo "The \`leftoff\` on your PATH is another program, or older than 0.2: run \`uv tool install leftoff-agents\` or \`pipx install leftoff-agents\`, then try again."
    exit 0
    ;;
esac
leftoff "$@" 2>&1
code=$?
[ "$code" = 0 ] || echo "(leftoff ended with exit code $code)"
exit 0
