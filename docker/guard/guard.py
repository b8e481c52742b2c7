"""
Serves one control-plane process over standard input and ends with it. A message is a line of JSON.

  {"id": 1, "apply": RULES, "bridge": NAME, "mac": ADDRESS, "address": IPv4}  ->  {"id": 1, "port": NAME}
  {"id": 2, "apply": RULES}                                   ->  {"id": 2}
  {"id": 3, "list": [[KIND, FAMILY, TABLE, NAME], ...]}       ->  {"id": 3, "lists": [nftables' JSON of each one, null for none]}
  {"id": 4, "route": NAME, "mark": NUMBER}                    ->  {"id": 4}
  {"id": 5, "unroute": NAME}                                  ->  {"id": 5}
  {"id": 6, "survey": true}                                   ->  {"id": 6, "names": [tables], "links": [interfaces]}
  {"id": 7, "room": true}                                     ->  {"id": 7, "disk": {"size": BYTES, "free": BYTES}, "memory": {"total": BYTES, "available": BYTES} or null}
  {"id": 8}                                                   ->  {"id": 8}

RULES is a file of nftables, one transaction. In it @PORT@ stands for the port of the bridge whose other end has the hardware address. "route"
drops what comes from a bridge and has no such mark, so that nothing is forwarded when the tables are gone; "unroute" undoes it. KIND is "set", "map",
"chain", or "table" without a NAME. A table is listed without the elements of its sets, because policies may have many, a chain without its rules.
"disk" is the file system with the files of the engine: the one of this container; "memory" is that of the host. A request that fails is answered with
{"id": N, "error": TEXT}. Unasked come, at the start and at each change,

  {"host": {"addresses": [IPv4], "ipv6": BOOLEAN, "maxOpenFiles": NUMBER or null}}
  {"lost": TABLE}    a table was deleted by somebody
  {"refused": [{"rule": PREFIX, "source": IPv4, "address": IPv4, "protocol": TEXT, "port": NUMBER, "count": NUMBER}, ...]}

The last are the packets that rules have logged to the group of the first argument, counted for a second.

Requests are served in order. One that takes longer than its deadline ends the guard, and its owner starts another one.
"""

import json
import os
import resource
import subprocess
import sys
import threading

import nftables

from links import Links
from refusals import follow_refusals

DEADLINE_SECONDS = 10
# Before the table of the host's own routes.
PRIORITY = "100"
OUTPUT = threading.Lock()


def say(message):
    with OUTPUT:
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


class Rules:
    """The resident nftables of the guard: it knows the tables, so that a change does not read all of them."""

    def __init__(self):
        self._nft = nftables.Nftables()

    def apply(self, rules):
        failed, _, error = self._nft.cmd(rules)
        if failed:
            raise RuntimeError(error.strip() or "nftables refused the rules")


def listed(kind, family, table, *names):
    """Lists a table, or something in it. None when it is absent."""
    # For "list table" and "list chain" nftables reads the elements of all sets.
    command = {"table": f"list ruleset {family}", "chain": f"list chains {family}"}.get(kind, " ".join(["list", kind, family, table, *names]))
    found = [
        {what: fields}
        for entry in answer(command, terse=kind == "table")
        for what, fields in entry.items()
        if fields.get("table") == table and (kind != "chain" or fields["name"] in names)
    ]
    return found or None


def answer(command, terse=False):
    """Asks another nftables than the resident one, which would take what an answer leaves out for absent."""
    nft = nftables.Nftables()
    nft.set_json_output(True)
    nft.set_terse_output(terse)
    failed, output, _ = nft.cmd(command)
    return [] if failed else json.loads(output)["nftables"]


def table_names():
    return sorted({entry["table"]["name"] for entry in answer("list tables") if "table" in entry})


def has_route(bridge):
    return any(rule.get("iif") == bridge for rule in json.loads(run("ip", "-4", "-json", "rule", "show")))


def drop_unmarked(bridge, mark):
    if has_route(bridge):
        return
    try:
        run("ip", "-4", "rule", "add", "priority", PRIORITY, "iif", bridge, "fwmark", f"0/{mark:#x}", "blackhole")
    except RuntimeError:
        if not has_route(bridge):  # Another guard may have added it meanwhile.
            raise


def pass_unmarked(bridge):
    while has_route(bridge):
        run("ip", "-4", "rule", "delete", "priority", PRIORITY, "iif", bridge)


def serve(request, rules, links):
    if "list" in request:
        return {"lists": [listed(*names) for names in request["list"]]}
    if "survey" in request:
        return {"names": table_names(), "links": os.listdir("/sys/class/net")}
    if "room" in request:
        found = os.statvfs("/")
        disk = {"size": found.f_blocks * found.f_frsize, "free": found.f_bavail * found.f_frsize}
        return {"disk": disk, "memory": read_memory()}
    if "route" in request:
        drop_unmarked(request["route"], request["mark"])
    if "unroute" in request:
        pass_unmarked(request["unroute"])
    if "apply" not in request:
        return {}
    if "mac" not in request:
        rules.apply(request["apply"])
        return {}
    port = links.port_of(request["bridge"], request["mac"])
    if port is None:
        raise RuntimeError(f"no port of {request['bridge']} has an end with the address {request['mac']}")
    rules.apply(request["apply"].replace("@PORT@", port))
    links.set_neighbour(request["bridge"], request["address"], request["mac"])
    return {"port": port}


def read_memory():
    with open("/proc/meminfo", encoding="ascii") as lines:
        kib = {name: int(value.split()[0]) for name, value in (line.split(":", 1) for line in lines)}
    if "MemAvailable" not in kib:
        return None
    return {"total": kib["MemTotal"] * 1024, "available": kib["MemAvailable"] * 1024}


def describe_host():
    found = json.loads(run("ip", "-4", "-json", "address", "show"))
    addresses = {entry["local"] for link in found for entry in link.get("addr_info", []) if "local" in entry}
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = None if files == resource.RLIM_INFINITY else files
    say({"host": {"addresses": sorted(addresses), "ipv6": os.path.isdir("/proc/sys/net/ipv6"), "maxOpenFiles": limit}})


def follow(command, on_line):
    """Calls `on_line` for each line that a monitor prints. Without its monitors the guard would be blind, so it ends with them."""
    try:
        monitor = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in monitor.stdout:
            on_line(line)
    finally:
        os._exit(1)


def start(work, *arguments):
    threading.Thread(target=work, args=arguments, daemon=True).start()


def main():
    rules, links = Rules(), Links()
    start(follow, ["nft", "monitor", "destroy", "tables"], lambda line: say({"lost": line.split()[-1]}))
    start(follow, ["ip", "-4", "monitor", "address"], lambda _: describe_host())
    start(follow_refusals, int(sys.argv[1]), lambda refused: say({"refused": refused}))
    describe_host()
    for line in sys.stdin:
        request = json.loads(line)
        watchdog = threading.Timer(DEADLINE_SECONDS, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()
        try:
            answer = serve(request, rules, links)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            answer = {"error": str(error)}
        watchdog.cancel()
        say({"id": request["id"], **answer})
    # The monitors would keep their pipes open.
    os._exit(0)


main()
