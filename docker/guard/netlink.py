"""The parts of netlink messages."""

import struct

HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
REQUEST, ACKNOWLEDGE, DUMP = 0x1, 0x4, 0x300
REPLACE, CREATE = 0x100, 0x400
ERROR, DONE = 2, 3


def messages(data):
    """Yields (type, sequence, payload) of each message."""
    while len(data) >= HEADER.size:
        length, kind, _, sequence, _ = HEADER.unpack_from(data)
        if length < HEADER.size:
            return
        yield kind, sequence, data[HEADER.size : length]
        data = data[(length + 3) & ~3 :]


def attributes(data):
    """Returns the values by type."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def error_of(payload):
    """Returns the error number of an error message; 0 is an acknowledgement."""
    return -struct.unpack_from("=i", payload)[0]
