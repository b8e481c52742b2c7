#!/bin/sh
# The start command of the template, as root: runs the server, and again when it has ended.
cd /home/user
trap 'kill "$server"; exit' TERM INT
while :; do
  node --max-semi-space-size=1 /opt/code-interpreter/server.mjs &
  server=$!
  wait "$server"
  sleep 1
done
