#!/bin/sh
# Serves one control-plane process over standard input and ends with it: one request a line, one answer a line.
#
#   <id> apply <pid> <container id> <nftables file, newlines as spaces>   ->   <id> ok  |  <id> failed <reason>  |  <id> late
#   <id> ping                                                             ->   <id> ok
#
# Unasked, at the start and whenever an address of the host changes:
#
#   host <IPv4 addresses of all interfaces, with commas> <1 where the kernel has IPv6, else 0> <open files a container may have>
#
# A ruleset is one transaction, so a namespace never has half of one. Requests run beside each other; one that takes longer than
# NFT_SECONDS is ended and answered with "late".
set -u
trap 'trap - TERM; kill 0' EXIT

describe_host() {
  addresses=$(ip -4 -o address show | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | sort -u | paste -sd, -)
  ipv6=0
  [ -d /proc/sys/net/ipv6 ] && ipv6=1
  printf 'host %s %s %s\n' "$addresses" "$ipv6" "$(ulimit -H -n)"
}

is_of_container() {
  while read -r group; do
    case $group in
      *"$2"*) return 0 ;;
    esac
  done <"/proc/$1/cgroup"
  return 1
}

# The namespace is opened before the process is checked. A process that is in the container then is the one that the engine named,
# because the container has ended when its first process has; so the namespace was that container's already.
apply() {
  exec 3<"/proc/$1/ns/net"
  is_of_container "$1" "$2" || { echo "process $1 is not of this container"; exit 1; }
  exec timeout --foreground -k 1 "${NFT_SECONDS:-10}" nsenter --net=/proc/self/fd/3 nft "$3"
}

serve() {
  reason=$(apply "$2" "$3" "$4" 2>&1)
  case $? in
    0) printf '%s ok\n' "$1" ;;
    124 | 137) printf '%s late\n' "$1" ;;
    *) printf '%s failed %s\n' "$1" "$(printf '%s' "$reason" | tr '\n' ' ')" ;;
  esac
}

describe_host
ip -4 monitor address | while read -r _; do describe_host; done &

while read -r id verb pid container rules; do
  case $verb in
    apply) serve "$id" "$pid" "$container" "$rules" & ;;
    ping) printf '%s ok\n' "$id" ;;
  esac
done
