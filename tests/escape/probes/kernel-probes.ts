import type { Probe } from '../probe.ts'

/** A kernel that is locked down, or that loads no more modules, refuses it to everyone. */
const LOCKED = /^blocked: EPERM$/

/** System calls and families of sockets that reach far into the kernel of the host. */
export const KERNEL_PROBES: readonly Probe[] = [
  {
    id: 'add-key',
    title: 'store a key in a keyring of the kernel (add_key)',
    perl: `attempt('add_key', "user", "escape", 'x', 1, -2);`,
  },
  {
    id: 'read-keyring',
    title: 'find a keyring of the account, which all containers share (keyctl)',
    perl: `attempt('keyctl', 0, -4, 1);`,
  },
  {
    id: 'kernel-log-call',
    title: 'read the log of the kernel (syslog)',
    perl: String.raw`my $log = "\0" x 4096; attempt('syslog', 3, $log, 4096);`,
  },
  {
    id: 'io-uring',
    title: 'system calls past the filter (io_uring_setup)',
    perl: String.raw`my $parameters = "\0" x 120; attempt('io_uring_setup', 1, $parameters);`,
    byEngineProfile: true,
    // A host may forbid it to everyone by kernel.io_uring_disabled.
    absent: /^blocked: EPERM$/,
  },
  {
    id: 'bpf',
    title: 'programs in the kernel (bpf)',
    perl: `my $map = pack('L4 x112', 2, 4, 4, 1); attempt('bpf', 0, $map, 72);`,
  },
  { id: 'userfaultfd', title: 'hold the kernel in a page fault (userfaultfd)', perl: `attempt('userfaultfd', 0);` },
  {
    id: 'perf-events',
    title: 'counters of the processor (perf_event_open)',
    perl: `my $event = pack('L L Q x112', 1, 128, 0); attempt('perf_event_open', $event, 0, -1, -1, 0);`,
  },
  {
    id: 'load-module',
    title: 'load a module of the kernel (finit_module)',
    perl: `permitted([qw(EBADF EINVAL ENOEXEC)], 'finit_module', -1, "", 0);`,
    absent: LOCKED,
  },
  {
    id: 'kexec',
    title: 'start another kernel (kexec_load)',
    perl: `permitted([qw(EINVAL EADDRNOTAVAIL)], 'kexec_load', 0, 0, 0, 0xffff0000);`,
    absent: LOCKED,
  },
  { id: 'io-ports', title: 'ports of the hardware (ioperm)', perl: `attempt('ioperm', 0x80, 1, 1);`, absent: LOCKED },
  {
    id: 'accounting',
    title: 'account for the processes of the host (acct)',
    perl: `permitted([qw(ENOENT)], 'acct', "/escape/nothing");`,
  },
  { id: 'swap', title: 'add swap space to the host (swapon)', perl: `permitted([qw(ENOENT)], 'swapon', "/escape/nothing", 0);` },
  {
    id: 'open-by-handle',
    title: 'open a file by its handle, past the mounts (open_by_handle_at)',
    perl: `
opendir(my $root, '/') or die "/: $!";
# The inode 2 is the root of most file systems of disks.
permitted([qw(ESTALE EOPNOTSUPP EINVAL)], 'open_by_handle_at', fileno($root), pack('LlQ', 8, 1, 2), 0);`,
  },
  {
    id: 'af-alg',
    title: 'a socket to the cryptography of the kernel (AF_ALG)',
    byEngineProfile: true,
    perl: `socket(my $s, 38, 5, 0) ? opened('a socket') : blocked(errname());`,
  },
  {
    id: 'af-vsock',
    title: 'a socket to the hypervisor, past the packet rules (AF_VSOCK)',
    byEngineProfile: true,
    perl: `socket(my $s, 40, 1, 0) ? opened('a socket') : blocked(errname());`,
  },
  {
    id: 'nft-rules',
    title: 'read and change the packet rules (netfilter netlink)',
    perl: `
socket(my $s, 16, SOCK_RAW, 12) or blocked(errname());
send($s, pack('LSSLL', 20, 10 << 8 | 1, 0x301, 1, 0) . pack('CCn', 0, 0, 0), 0) or blocked(errname());
recv($s, my $answer, 65536, 0) // blocked(errname());
my ($length, $type, $flags, $sequence, $port, $error) = unpack('LSSLLl', $answer);
$type == 2 && $error < 0 ? blocked(errname(-$error)) : opened('the tables were listed');`,
  },
  {
    id: 'network-settings',
    title: 'add an address to the interface (route netlink)',
    perl: `
my ($index) = sniffable();
socket(my $s, 16, SOCK_RAW, 0) or blocked(errname());
my $address = pack('CCCCL', 2, 32, 0, 0, $index) . pack('SSa4', 8, 2, inet_aton('198.51.100.99')) . pack('SSa4', 8, 1, inet_aton('198.51.100.99'));
send($s, pack('LSSLL', 16 + length $address, 20, 0x605, 1, 0) . $address, 0) or blocked(errname());
recv($s, my $answer, 4096, 0) // blocked(errname());
my $error = (unpack('LSSLLl', $answer))[5];
$error < 0 ? blocked(errname(-$error)) : opened('the interface has another address');`,
  },
]
