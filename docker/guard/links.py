"""Interfaces of the host, read through rtnetlink with the right to administrate networks alone."""

import socket
import struct

import netlink

RTM_GETLINK, RTM_NEWNEIGH = 18, 28
IFLA_ADDRESS, IFLA_IFNAME, IFLA_LINK, IFLA_MASTER = 1, 3, 5, 10
IFLA_LINK_NETNSID, IFLA_TARGET_NETNSID = 37, 46
NDA_DST, NDA_LLADDR = 1, 2
NUD_STALE = 0x04
NEIGHBOUR = struct.Struct("=BxxxiHBB")  # ndmsg: family, index, state, flags, type
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
        links = self._ask(netlink.DUMP, 0, b"")
        master = next((index for index, link in links if _text(link, IFLA_IFNAME) == bridge), None)
        if master is None:
            return None
        ports = {(index, _text(link, IFLA_IFNAME)): link for index, link in links if _number(link, IFLA_MASTER) == master}
        for gone in self._address_of.keys() - ports.keys():
            del self._address_of[gone]
        wanted = bytes.fromhex(address.replace(":", ""))
        for asked in (ports.keys() - self._address_of.keys(), ports.keys()):
            for port in asked:
                self._address_of[port] = self._address_of_peer(ports[port])
            found = next((name for (_, name), other in self._address_of.items() if other == wanted), None)
            if found is not None:
                return found
            # The engine moves an end and gives it its address after it has made it: what was read of another sandbox's start may be old.
        return None

    def set_neighbour(self, bridge, address, hardware):
        """Tells the host which hardware address has the IPv4 address: it may remember that of an earlier sandbox for half a minute."""
        self._sequence += 1
        body = NEIGHBOUR.pack(socket.AF_INET, socket.if_nametoindex(bridge), NUD_STALE, 0, 0)
        body += struct.pack("=HH", 8, NDA_DST) + socket.inet_aton(address)
        body += struct.pack("=HH", 10, NDA_LLADDR) + bytes.fromhex(hardware.replace(":", "")) + b"\0\0"
        flags = netlink.REQUEST | netlink.ACKNOWLEDGE | netlink.CREATE | netlink.REPLACE
        head = netlink.HEADER.pack(netlink.HEADER.size + len(body), RTM_NEWNEIGH, flags, self._sequence, 0)
        self._socket.send(head + body)
        while True:
            for kind, sequence, payload in netlink.messages(self._socket.recv(MAX_BYTES)):
                if sequence != self._sequence or kind != netlink.ERROR:
                    continue
                if netlink.error_of(payload) != 0:
                    raise OSError(netlink.error_of(payload), "the kernel refused the hardware address of a sandbox")
                return

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
        head = netlink.HEADER.pack(netlink.HEADER.size + len(body), RTM_GETLINK, netlink.REQUEST | flags, self._sequence, 0)
        self._socket.send(head + body)
        links = []
        while True:
            for kind, sequence, payload in netlink.messages(self._socket.recv(MAX_BYTES)):
                if sequence != self._sequence:
                    continue  # The rest of an answer that came too late.
                if kind == netlink.ERROR:
                    raise OSError(netlink.error_of(payload), "the kernel refused to describe an interface")
                if kind == netlink.DONE:
                    return links
                links.append((LINK.unpack_from(payload)[2], netlink.attributes(payload[LINK.size :])))
            if not flags and links:
                return links


def _text(link, kind):
    return link.get(kind, b"").rstrip(b"\0").decode(errors="replace")


def _number(link, kind):
    value = link.get(kind)
    return None if value is None else struct.unpack_from("=i", value)[0]
