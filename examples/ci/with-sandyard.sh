#!/bin/sh
# Runs a command with a Sandyard server of its own: starts it, waits until it is ready, sets the variables of the SDKs, and stops it.
#
#     SANDYARD_HOME=<checkout of Sandyard> sh with-sandyard.sh npm test
#
# The server's log goes to $SANDYARD_DATA_DIR/ci.log (default: a new temporary directory). Ends with the status of the command.
set -eu

: "${SANDYARD_HOME:?is the folder of a checkout of Sandyard}"
[ $# -gt 0 ] || { echo "usage: with-sandyard.sh <command> [argument ...]" >&2; exit 64; }
START_SECONDS=${SANDYARD_START_SECONDS:-300}

SANDYARD_DATA_DIR=${SANDYARD_DATA_DIR:-$(mktemp -d)}
export SANDYARD_DATA_DIR
mkdir -p "$SANDYARD_DATA_DIR"
log="$SANDYARD_DATA_DIR/ci.log"

# Port 0: any free port, so that jobs can share a machine.
SANDYARD_API_PORT=0 SANDYARD_PROXY_PORT=0 SANDYARD_METRICS_PORT=0 SANDYARD_EGRESS_HEALTH_PORT=0 \
  sh "$SANDYARD_HOME/tools/run" start >"$log" 2>&1 &
server=$!

stop() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM

waited=0
until grep -q 'Ctrl-C stops the server' "$log"; do
  if ! kill -0 "$server" 2>/dev/null || [ "$waited" -ge "$START_SECONDS" ]; then
    echo "Sandyard did not start:" >&2
    tail -n 20 "$log" >&2
    exit 70
  fi
  sleep 1
  waited=$((waited + 1))
done

# The lines `export E2B_...=...` that the server prints.
eval "$(grep -E '^ *export E2B_[A-Z_]+=[^ ;&|$`]+$' "$log")"
"$@"
