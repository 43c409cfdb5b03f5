#!/bin/sh
# Runs leftoff for a slash command: leftoff.sh COMMAND [OPTION]...
# It always ends well, for Claude Code drops a whole slash command when a line in it fails. What
# leftoff says, and how it ended, is for the model to read.
if ! command -v leftoff >/dev/null 2>&1; then
  echo "leftoff is not installed: run \`pipx install .\` or \`uv tool install .\` in a clone of its repository, then try again."
  exit 0
fi
leftoff "$@" 2>&1
code=$?
[ "$code" = 0 ] || echo "(leftoff ended with exit code $code)"
exit 0
