#!/bin/sh
# Serves an image of Debian's static busybox on loopback, and has the engine of dev containers fetch it: tests reach no registry.
set -eu
work=$(mktemp -d)
root=$work/root
mkdir -p "$root/bin" "$root/etc" "$root/root" "$root/tmp" "$root/home/dev"
cp /bin/busybox "$root/bin/"
for name in $(/bin/busybox --list); do [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\ndev:x:1234:1234::/home/dev:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\ndev:x:1234:\n' > "$root/etc/group"
echo ID=busybox > "$root/etc/os-release"
echo from the image > "$root/etc/marker"
chown -R 1234:1234 "$root/home/dev"
chmod 1777 "$root/tmp"
tar c -C "$root" . > "$work/layer.tar"
digest=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
printf '{"architecture":"%s","os":"linux","config":{"Cmd":["/bin/sh"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
  "$(dpkg --print-architecture)" "$digest" > "$work/config.json"
printf '[{"Config":"config.json","RepoTags":["busybox:1"],"Layers":["layer.tar"]}]' > "$work/manifest.json"
tar c -C "$work" manifest.json config.json layer.tar > "$work/image.tar"

printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:5000"}\n' "$work/registry" > "$work/registry.yml"
docker-registry serve "$work/registry.yml" > "$work/registry.log" 2>&1 &
registry=$!
trap 'kill $registry; rm -rf "$work"' EXIT
curl -sf --retry 50 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:5000/v2/
skopeo copy -q --insecure-policy --dest-tls-verify=false "docker-archive:$work/image.tar" docker://localhost:5000/busybox:1
/opt/devcontainer/engine/docker pull localhost:5000/busybox:1
