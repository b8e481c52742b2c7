import type { Account, Probe } from '../probe.ts'

/** Root of a sandbox may end and read its own daemon (SECURITY.md). */
const USER: Pick<Probe, 'accounts'> = { accounts: ['user'] satisfies Account[] }

/** The control has its secret in each kind of place. */
const EVERYWHERE = /^open: environ, file, memory:/

/** The daemon as a process, and the secrets that are in it or must not be. */
export const DAEMON_PROBES: readonly Probe[] = [
  {
    id: 'signal-daemon',
    title: 'signal the daemon',
    perl: `kill(0, daemon_pid()) ? opened('a signal is permitted') : blocked(errname());`,
    ...USER,
  },
  {
    id: 'trace-daemon',
    title: 'trace the daemon (ptrace)',
    perl: `my $pid = daemon_pid(); sys('ptrace', 0x4206, $pid, 0, 0) == 0 ? opened('traced') : blocked(errname());`,
    ...USER,
  },
  {
    id: 'daemon-memory-call',
    title: 'read the memory of the daemon (process_vm_readv)',
    perl: `
my $pid = daemon_pid();
my ($start) = (slurp("/proc/$pid/maps") // '') =~ /^([0-9a-f]+)-/m or blocked("maps: " . errname());
my $here = "\\0" x 16;
my ($to, $from) = (pack('PQ', $here, 16), pack('QQ', hex $start, 16));
attempt('process_vm_readv', $pid, $to, 1, $from, 1, 0);`,
    ...USER,
  },
  {
    id: 'daemon-memory-file',
    title: 'read the memory, variables, files and directories of the daemon (/proc)',
    perl: `
my $pid = daemon_pid();
for my $name (qw(environ mem maps auxv io pagemap stack syscall)) {
    sysopen(my $file, "/proc/$pid/$name", O_RDONLY) or next;
    opened("/proc/$pid/$name") if defined sysread($file, my $bytes, 1) || $!{EIO};
}
for my $name (qw(exe cwd root)) { opened("/proc/$pid/$name") if defined readlink("/proc/$pid/$name") }
opendir(my $files, "/proc/$pid/fd") and opened("/proc/$pid/fd");
blocked(errname());`,
    ...USER,
  },
  {
    id: 'daemon-files-taken',
    title: 'take an open file of the daemon (pidfd_getfd)',
    perl: `
my $handle = sys('pidfd_open', daemon_pid(), 0);
$handle >= 0 or blocked(errname());
attempt('pidfd_getfd', $handle, 1, 0);`,
    ...USER,
  },
  {
    id: 'own-token',
    title: "find the daemon's token in variables, memory and files",
    perl: `search('OWN_TOKEN');`,
    control: EVERYWHERE,
    accounts: ['user'],
    places: ['sandbox'],
  },
  {
    id: 'foreign-secrets',
    title: "find keys of the server or another sandbox's token in variables, memory and files",
    perl: `search('FOREIGN_SECRETS');`,
    control: EVERYWHERE,
  },
]
