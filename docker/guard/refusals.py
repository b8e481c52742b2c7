"""The packets that the rules refuse, as the kernel logs them (NFLOG): counted for a second, then reported."""

import errno
import socket
import struct
import threading
import time

import netlink

NETLINK_NETFILTER = 12
SUBSYSTEM = 4 << 8  # NFNL_SUBSYS_ULOG
MSG_PACKET, MSG_CONFIG = SUBSYSTEM | 0, SUBSYSTEM | 1
CFG_CMD, CFG_MODE = 1, 2
CMD_BIND = 1
COPY_PACKET = 2
ATTRIBUTE_PAYLOAD, ATTRIBUTE_PREFIX = 9, 10
NETLINK_NO_ENOBUFS = 5
SOL_NETLINK = 270
GROUP = struct.Struct("!BBH")  # nfgenmsg: family, version, resource
IP_AND_PORTS_BYTES = 64
PROTOCOLS = {6: "tcp", 17: "udp", 1: "icmp"}
MAX_KINDS = 1000
MAX_BYTES = 1 << 16
REPORT_SECONDS = 1
RETRY_SECONDS = 60


def follow_refusals(group, report):
    """Calls `report` with a list of refusals. Another guard of the installation may have the group: then this one waits for its end."""
    while True:
        try:
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as log:
                # What is lost is not counted; the reader goes on.
                log.setsockopt(SOL_NETLINK, NETLINK_NO_ENOBUFS, 1)
                _bind(log, group)
                Refusals(log, report).read()
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EPERM, errno.EEXIST, errno.EOPNOTSUPP):
                raise
        time.sleep(RETRY_SECONDS)


class Refusals:
    """Counts equal refusals."""

    def __init__(self, log, report):
        self._log = log
        self._report = report
        self._counts = {}
        self._lock = threading.Lock()

    def read(self):
        threading.Thread(target=self._report_each_second, daemon=True).start()
        while True:
            for kind, _, payload in netlink.messages(self._log.recv(MAX_BYTES)):
                if kind == MSG_PACKET:
                    self._count(netlink.attributes(payload[GROUP.size :]))

    def _count(self, attributes):
        kind = _describe(attributes.get(ATTRIBUTE_PREFIX, b""), attributes.get(ATTRIBUTE_PAYLOAD, b""))
        with self._lock:
            if kind in self._counts or len(self._counts) < MAX_KINDS:
                self._counts[kind] = self._counts.get(kind, 0) + 1

    def _report_each_second(self):
        while True:
            time.sleep(REPORT_SECONDS)
            with self._lock:
                counts, self._counts = self._counts, {}
            if counts:
                names = ("rule", "source", "address", "protocol", "port")
                self._report([{**dict(zip(names, kind)), "count": count} for kind, count in counts.items()])


def _bind(log, group):
    commands = [(CFG_CMD, struct.pack("!B", CMD_BIND)), (CFG_MODE, struct.pack("!IBx", IP_AND_PORTS_BYTES, COPY_PACKET))]
    for sequence, (kind, value) in enumerate(commands, 1):
        attribute = struct.pack("=HH", 4 + len(value), kind) + value
        attribute += b"\0" * (-len(attribute) % 4)
        body = GROUP.pack(socket.AF_UNSPEC, 0, group) + attribute
        head = netlink.HEADER.pack(netlink.HEADER.size + len(body), MSG_CONFIG, netlink.REQUEST | netlink.ACKNOWLEDGE, sequence, 0)
        log.send(head + body)
        for kind, _, payload in netlink.messages(log.recv(MAX_BYTES)):
            if kind == netlink.ERROR and netlink.error_of(payload) != 0:
                raise OSError(netlink.error_of(payload), "the kernel gives no log of refused packets")


def _describe(prefix, packet):
    rule = prefix.rstrip(b"\0").decode(errors="replace")
    if len(packet) < 20:
        return (rule, "", "", "", 0)
    size, protocol = (packet[0] & 15) * 4, packet[9]
    source, address = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
    has_ports = protocol in (6, 17) and len(packet) >= size + 4
    port = struct.unpack_from("!H", packet, size + 2)[0] if has_ports else 0
    return (rule, source, address, PROTOCOLS.get(protocol, str(protocol)), port)

