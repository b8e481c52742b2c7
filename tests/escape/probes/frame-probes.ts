import type { Probe } from '../probe.ts'

const IPV4 = String.raw`"\x08\x00"`
const PAYLOAD = 'udp(53, marker())'

/** Frames that a packet socket sends. The function gets the own and the gateway's hardware address. */
function frames(id: string, title: string, make: string): Probe {
  return { id, title, perl: `send_frames(sub { my ($own, $gateway) = @_; ${make} });` }
}

/** Packets that are made by hand: forged senders, other families, tags, and sockets past the queues. */
export const FRAME_PROBES: readonly Probe[] = [
  frames(
    'frame-metadata',
    'a frame to the metadata address (AF_PACKET)',
    `ether_frame($gateway, $own, ${IPV4}, ipv4(own_address(), target('METADATA'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-private',
    'a frame to a private network (AF_PACKET)',
    `ether_frame($gateway, $own, ${IPV4}, ipv4(own_address(), target('PRIVATE'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-forged-sibling',
    "a frame with another sandbox's address as its source",
    `ether_frame($gateway, $own, ${IPV4}, ipv4(target('SIBLING'), target('PUBLIC'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-forged-mac',
    "a frame with another sandbox's address and another hardware address",
    `ether_frame($gateway, '02:42:7f:7f:7f:7f', ${IPV4}, ipv4(target('SIBLING'), target('PUBLIC'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-forged-foreign',
    'a frame with a foreign source address',
    `ether_frame($gateway, $own, ${IPV4}, ipv4('203.0.113.77', target('PUBLIC'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-sibling',
    'a frame to another sandbox',
    `ether_frame(target('SIBLING_MAC'), $own, ${IPV4}, ipv4(own_address(), target('SIBLING'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-broadcast',
    'a frame to all sandboxes',
    `ether_frame('ff:ff:ff:ff:ff:ff', $own, ${IPV4}, ipv4(own_address(), '255.255.255.255', 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-vlan',
    'a frame with a VLAN tag to the metadata address',
    String.raw`ether_frame($gateway, $own, "\x81\x00\x00\x00\x08\x00", ipv4(own_address(), target('METADATA'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-vlan-sibling',
    'a frame with a VLAN tag to another sandbox',
    String.raw`ether_frame(target('SIBLING_MAC'), $own, "\x81\x00\x00\x05\x08\x00", ipv4(own_address(), target('SIBLING'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'frame-qinq',
    'a frame with two VLAN tags to the metadata address',
    String.raw`ether_frame($gateway, $own, "\x88\xa8\x00\x00\x81\x00\x00\x00\x08\x00", ipv4(own_address(), target('METADATA'), 17, ${PAYLOAD}))`,
  ),
  frames(
    'arp-sibling',
    'ask for another sandbox by ARP',
    String.raw`ether_frame('ff:ff:ff:ff:ff:ff', $own, "\x08\x06", arp(1, $own, own_address(), '00:00:00:00:00:00', target('SIBLING')))`,
  ),
  frames(
    'arp-forged',
    'claim another address of the network at another sandbox (forged ARP)',
    String.raw`ether_frame(target('SIBLING_MAC'), $own, "\x08\x06", arp(2, $own, own_address() =~ s/\d+$/250/r, target('SIBLING_MAC'), target('SIBLING')))`,
  ),
  frames(
    'frame-ipv6',
    'a frame of IPv6 to all neighbours',
    String.raw`ether_frame('33:33:00:00:00:01', $own, "\x86\xdd", pack('NnCC', 6 << 28, 8 + length marker(), 17, 255) . "\xfe\x80" . "\0" x 13 . "\7" . "\xff\x02" . "\0" x 13 . "\1" . udp(53, marker()))`,
  ),
  frames(
    'frame-llc',
    'a frame of another protocol to another sandbox',
    String.raw`ether_frame(target('SIBLING_MAC'), $own, "\x88\xb5", marker())`,
  ),
  {
    id: 'xdp-metadata',
    title: 'a frame past the queues to the metadata address (AF_XDP)',
    perl: `send_xdp(sub { my ($own, $gateway) = @_; ether_frame($gateway, $own, ${IPV4}, ipv4(own_address(), target('METADATA'), 17, ${PAYLOAD})) });`,
  },
  {
    id: 'xdp-sibling',
    title: 'a frame past the queues to another sandbox (AF_XDP)',
    perl: `send_xdp(sub { my ($own) = @_; ether_frame(target('SIBLING_MAC'), $own, ${IPV4}, ipv4(own_address(), target('SIBLING'), 17, ${PAYLOAD})) });`,
  },
  {
    id: 'raw-ip',
    title: 'a packet with a forged source (raw IP socket)',
    perl: `
socket(my $raw, AF_INET, SOCK_RAW, 255) or blocked(errname());
my $packet = ipv4(target('SIBLING'), target('PUBLIC'), 17, ${PAYLOAD});
for (1, 2) { send($raw, $packet, 0, pack_sockaddr_in(0, inet_aton(target('PUBLIC')))) or blocked(errname()) }
sent();`,
  },
  {
    id: 'raw-tunnel',
    title: 'a tunnel of IP in IP to a private network (raw IP socket)',
    perl: `
socket(my $raw, AF_INET, SOCK_RAW, 4) or blocked(errname());
my $packet = ipv4(own_address(), target('METADATA'), 17, ${PAYLOAD});
for (1, 2) { send($raw, $packet, 0, pack_sockaddr_in(0, inet_aton(target('PRIVATE')))) or blocked(errname()) }
sent();`,
  },
  {
    id: 'ipv6-neighbours',
    title: 'all neighbours by IPv6 multicast',
    perl: `
socket(my $s, AF_INET6, SOCK_DGRAM, 0) or blocked(errname());
my ($index) = sniffable();
my $everyone = Socket::pack_sockaddr_in6(53, Socket::inet_pton(AF_INET6, 'ff02::1'), $index);
for (1, 2) { send($s, marker(), 0, $everyone) or blocked(errname()); select(undef, undef, undef, 0.3) }
sent();`,
  },
  {
    id: 'ipv6-sibling',
    title: 'another sandbox by its link-local address (IPv6)',
    perl: `dial(link_local(target('SIBLING_MAC')), target('SERVICE_PORT'), AF_INET6);`,
  },
  {
    id: 'ipv6-router',
    title: 'a server of the host by its link-local address (IPv6)',
    perl: `dial(link_local((sniffable())[2]), target('ENGINE_PORT'), AF_INET6);`,
  },
]
