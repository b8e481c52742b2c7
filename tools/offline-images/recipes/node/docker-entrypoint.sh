#!/bin/sh
# Arguments that begin with an option or with a script are for node; else they are a command.
set -e
case "${1:-}" in
  -*) exec node "$@" ;;
esac
if ! command -v "${1:-}" >/dev/null 2>&1; then exec node "$@"; fi
exec "$@"
