"""Interfaces of the host, read through rtnetlink with the right to administrate networks alone."""

import socket
import struct

NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_GETLINK = 18
IFLA_ADDRESS, IFLA_IFNAME, IFLA_LINK, IFLA_MASTER = 1, 3, 5, 10
IFLA_LINK_NETNSID, IFLA_TARGET_NETNSID = 37, 46
HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
LINK = struct.Struct("=BxHiII")  # ifinfomsg: family, type, index, flags, change
ANSWER_SECONDS = 5
MAX_BYTES = 1 << 20


class Links:
    """Finds the host's end of a sandbox's interface. What it has found it keeps as long as the interface is there."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.settimeout(ANSWER_SECONDS)
        self._sequence = 0
        self._address_of = {}

    def port_of(self, bridge, address):
        """Returns the name of the port of `bridge` whose other end, in another namespace, has the hardware address; None when there is none."""
        links = self._ask(NLM_F_DUMP, 0, b"")
        master = next((index for index, link in links if _text(link, IFLA_IFNAME) == bridge), None)
        ports = {(index, _text(link, IFLA_IFNAME)): link for index, link in links if _number(link, IFLA_MASTER) == master}
        for gone in self._address_of.keys() - ports.keys():
            del self._address_of[gone]
        for port, link in ports.items():
            if port not in self._address_of:
                self._address_of[port] = self._address_of_peer(link)
        wanted = bytes.fromhex(address.replace(":", ""))
        return next((name for (_, name), found in self._address_of.items() if found == wanted), None)

    def _address_of_peer(self, link):
        index, namespace = _number(link, IFLA_LINK), _number(link, IFLA_LINK_NETNSID)
        if index is None or namespace is None:
            return None
        try:
            found = self._ask(0, index, struct.pack("=HHi", 8, IFLA_TARGET_NETNSID, namespace))
        except OSError:
            return None  # It has ended meanwhile.
        return found[0][1].get(IFLA_ADDRESS) if found else None

    def _ask(self, flags, index, attributes):
        self._sequence += 1
        body = LINK.pack(socket.AF_UNSPEC, 0, index, 0, 0) + attributes
        self._socket.send(HEADER.pack(HEADER.size + len(body), RTM_GETLINK, NLM_F_REQUEST | flags, self._sequence, 0) + body)
        links = []
        while True:
            data = self._socket.recv(MAX_BYTES)
            while len(data) >= HEADER.size:
                length, kind, _, sequence, _ = HEADER.unpack_from(data)
                message, data = data[HEADER.size : length], data[(length + 3) & ~3 :]
                if sequence != self._sequence:
                    continue  # The rest of an answer that came too late.
                if kind == NLMSG_ERROR:
                    raise OSError(-struct.unpack_from("=i", message)[0], "the kernel refused to describe an interface")
                if kind == NLMSG_DONE:
                    return links
                links.append((LINK.unpack_from(message)[2], _attributes(message[LINK.size :])))
            if not flags:
                return links


def _attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def _text(link, kind):
    return link.get(kind, b"").rstrip(b"\0").decode(errors="replace")


def _number(link, kind):
    value = link.get(kind)
    return None if value is None else struct.unpack_from("=i", value)[0]
