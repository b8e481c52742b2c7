#!/bin/sh
# Prints a script which runs its arguments, or a shell, in the dev container of a folder. The start command of the SDK keeps it as /devcontainer.sh.
if [ $# -ne 1 ]; then
  echo 'usage: prepare-exec.sh <workspace folder>' >&2
  exit 2
fi
folder=$(realpath -- "$1") || exit 1
quoted=$(printf '%s' "$folder" | sed "s/'/'\\\\''/g")
cat <<EOF
#!/bin/sh
# Runs a command in the dev container of its folder: /devcontainer.sh npm test. Without a command it is a shell.
if [ \$# -eq 0 ]; then
  set -- sh -c 'if command -v bash >/dev/null; then exec bash -l; else exec sh -l; fi'
fi
exec sudo devcontainer exec --workspace-folder '$quoted' "\$@"
EOF
