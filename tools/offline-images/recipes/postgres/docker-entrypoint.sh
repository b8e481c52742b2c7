#!/bin/bash
# Starts Postgres with the variables of the official image: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS (each also
# as NAME_FILE), POSTGRES_HOST_AUTH_METHOD and PGDATA. Other commands run as they are. What this image does not support is an error.
set -euo pipefail

fail() {
  printf 'docker-entrypoint: %s\n' "$*" >&2
  exit 1
}

# Gives a variable the content of the file that NAME_FILE names, as with secrets of Compose.
read_file_of() {
  local name=$1 file_variable="$1_FILE"
  local file=${!file_variable:-}
  if [ -z "$file" ]; then return; fi
  if [ -n "${!name:-}" ]; then fail "$name and $file_variable are both set."; fi
  [ -r "$file" ] || fail "$file_variable names $file, which cannot be read."
  export "$name=$(<"$file")"
  unset "$file_variable"
}

# True when the command only prints something.
is_question() {
  local argument
  for argument; do
    case "$argument" in
      -'?' | --help | --describe-config | -V | --version) return 0 ;;
    esac
  done
  return 1
}

# As root: the folders get their owner, and the rest runs as postgres.
step_down() {
  local parent
  parent=$(dirname "$PGDATA")
  [ -d "$parent" ] || install -d -o postgres -g postgres "$parent"
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  find "$PGDATA" ! -user postgres -exec chown postgres {} +
  if [ -d /var/run/postgresql ]; then
    chown postgres:postgres /var/run/postgresql || true
    chmod 3775 /var/run/postgresql || true
  fi
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
}

# Makes the cluster and the database in a folder beside PGDATA, which gets its name when it is complete: a container that is killed
# meanwhile begins again. If PGDATA is a mount, it is made in place. No server listens before all is there.
initialise() {
  local user=${POSTGRES_USER:-postgres}
  local database=${POSTGRES_DB:-$user}
  local password=${POSTGRES_PASSWORD:-} method=${POSTGRES_HOST_AUTH_METHOD:-}
  if [ -z "$password" ] && [ "$method" != trust ]; then
    fail 'there is no database yet, and POSTGRES_PASSWORD is not set: set it, or POSTGRES_HOST_AUTH_METHOD=trust.'
  fi
  if [ -n "${POSTGRES_INITDB_WALDIR:-}" ]; then fail 'POSTGRES_INITDB_WALDIR is not supported by this stand-in.'; fi
  if [ -n "$(ls -A /docker-entrypoint-initdb.d 2>/dev/null)" ]; then
    fail 'files in /docker-entrypoint-initdb.d are not supported by this stand-in.'
  fi

  local draft=$PGDATA
  mkdir -p "$(dirname "$PGDATA")"
  if [ ! -e "$PGDATA" ] || rmdir "$PGDATA" 2>/dev/null; then
    draft="$PGDATA.new"
    rm -rf "$draft"
  fi

  local options
  eval "options=(${POSTGRES_INITDB_ARGS:-})"
  if [ -n "$password" ]; then
    initdb --pgdata="$draft" --username="$user" --pwfile=<(printf '%s\n' "$password") "${options[@]}"
  else
    initdb --pgdata="$draft" --username="$user" "${options[@]}"
  fi
  printf '\nhost all all all %s\n' "${method:-scram-sha-256}" >>"$draft/pg_hba.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "${database//\"/\"\"}" | postgres --single -D "$draft" -c exit_on_error=on postgres >/dev/null
  fi
  if [ "$draft" != "$PGDATA" ]; then mv -T "$draft" "$PGDATA"; fi
}

case "${1:-}" in
  -*) set -- postgres "$@" ;;
esac
if [ "${1:-}" != postgres ] || is_question "$@"; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then step_down "$@"; fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The first process of a container gets no signal that it does not handle.
  trap 'fail "ended while the database was made."' INT TERM
  for name in POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB POSTGRES_INITDB_ARGS; do read_file_of "$name"; done
  initialise
  trap - INT TERM
fi
exec "$@"
