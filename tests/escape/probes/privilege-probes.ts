import type { Probe } from '../probe.ts'

const NEW = { user: 0x1000_0000, net: 0x4000_0000, rest: 0x0002_0000 | 0x0400_0000 | 0x0800_0000 | 0x0200_0000 }

/** Capabilities, namespaces, mounts and devices. */
export const PRIVILEGE_PROBES: readonly Probe[] = [
  {
    id: 'capability-sets',
    title: 'a capability over the host in any set of the process',
    perl: `my @has = capabilities(slurp('/proc/self/status')); @has ? opened("@has") : blocked('none in any set');`,
  },
  {
    id: 'raise-capability',
    title: 'raise SYS_ADMIN (capset)',
    perl: `
my ($head, $sets) = (pack('LL', 0x20080522, 0), pack('L6', (1 << 21) x 3, 0, 0, 0));
attempt('capset', $head, $sets);`,
  },
  {
    id: 'ambient-capability',
    title: 'raise SYS_ADMIN for programs (ambient set)',
    perl: `
my ($head, $sets) = (pack('LL', 0x20080522, 0), pack('L6', (1 << 21) x 3, 0, 0, 0));
sys('capset', $head, $sets);
attempt('prctl', 47, 2, 21, 0, 0);`,
  },
  {
    id: 'file-capability',
    title: 'get SYS_ADMIN by a capability of a file',
    perl: `
my $program = scratch() . '/cat';
spurt($program, slurp('/bin/cat')) && chmod(0755, $program) or die "copy: $!";
my $value = pack('L5', 0x02000001, 1 << 21, 0, 0, 0);
sys('setxattr', "$program", "security.capability", $value, length $value, 0) == 0 or blocked('setxattr: ' . errname());
my $status = qx{$program /proc/self/status 2>&1};
grep({ $_ eq 'SYS_ADMIN' } capabilities($status =~ /^(CapEff:.*)/m ? $1 : '')) ? opened('SYS_ADMIN by a file') : blocked('the program has no such capability');`,
  },
  { id: 'user-namespace', title: 'a user namespace (unshare)', perl: `attempt('unshare', ${NEW.user});` },
  { id: 'network-namespace', title: 'a network namespace (unshare)', perl: `attempt('unshare', ${NEW.net});` },
  {
    id: 'other-namespaces',
    title: 'namespaces of mounts, names, IPC and control groups (unshare)',
    perl: `attempt('unshare', ${NEW.rest});`,
  },
  {
    id: 'clone-namespace',
    title: 'a process in a user namespace (clone)',
    perl: `
my $pid = sys('clone', ${NEW.user} | 17, 0, 0, 0, 0);
POSIX::_exit(0) if $pid == 0;
$pid > 0 ? opened('a process in a user namespace') : blocked(errname());`,
  },
  {
    id: 'clone3-namespace',
    title: 'a process in a user namespace (clone3, whose flags a filter cannot see)',
    perl: `
my $arguments = pack('Q11', ${NEW.user}, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0);
my $pid = sys('clone3', $arguments, 88);
POSIX::_exit(0) if $pid == 0;
$pid > 0 ? opened('a process in a user namespace') : blocked(errname());`,
  },
  {
    id: 'join-namespace',
    title: 'join the namespaces of another process (setns)',
    perl: `
my $namespace;
open($namespace, '<', '/proc/1/ns/mnt') or open($namespace, '<', '/proc/self/ns/mnt') or blocked(errname());
attempt('setns', fileno($namespace), 0x00020000);`,
  },
  { id: 'mount-tmpfs', title: 'mount a tmpfs', perl: `attempt('mount', "none", scratch() . "", "tmpfs", 0, 0);` },
  { id: 'mount-bind', title: 'mount a directory elsewhere (bind)', perl: `attempt('mount', "/etc", scratch() . "", 0, 4096, 0);` },
  { id: 'mount-proc', title: 'mount a new proc, without masked files', perl: `attempt('mount', "proc", scratch() . "", "proc", 0, 0);` },
  {
    id: 'mount-overlay',
    title: 'mount an overlay',
    perl: `
my $here = scratch();
mkdir "$here/$_" for qw(upper work at);
attempt('mount', "overlay", "$here/at", "overlay", 0, "lowerdir=/etc:/opt,ro");`,
  },
  {
    id: 'remount-writable',
    title: 'make /proc/sys writable (remount)',
    perl: `permitted([qw(EINVAL EBUSY)], 'mount', "none", "/proc/sys", 0, 32 | 4096, 0);`,
  },
  {
    id: 'unmask',
    title: 'uncover a masked file of /proc (umount)',
    perl: `
my ($masked) = grep { -e $_ } qw(/proc/kcore /proc/keys /proc/timer_list /proc/acpi) or absent('none of them exists');
permitted([qw(EINVAL)], 'umount2', $masked, 2);`,
  },
  { id: 'new-mount-call', title: 'the newer calls for mounts (fsopen)', perl: `attempt('fsopen', "tmpfs", 0);` },
  { id: 'clone-tree', title: 'a detached copy of the mounts (open_tree)', perl: `attempt('open_tree', -100, "/", 1 | 0x8000);` },
  {
    id: 'device-nodes',
    title: 'a device of the host by a node of its own (mknod): disk, kernel log, processors, file systems',
    perl: `
my $why;
for (host_devices(scratch())) {
    my ($path, $mode, $major, $minor) = @$_;
    sys('mknodat', -100, $path, $mode, ($minor & 0xff) | ($major << 8) | (($minor & ~0xff) << 12)) == 0 or do { $why = 'mknod: ' . errname(); next };
    opened($path) if sysopen(my $device, $path, O_RDONLY | O_NONBLOCK);
    $why = errname();
}
blocked($why);`,
  },
  {
    id: 'devices',
    title: 'open a device of the host below /dev',
    perl: `
my %harmless = map { $_ => 1 } qw(null zero full random urandom tty ptmx console stdin stdout stderr);
my $tried = 0;
for my $path (sort grep { !m{^/dev/(?:pts|shm|mqueue|fd)(?:/|$)} } glob('/dev/* /dev/*/*')) {
    my ($name) = $path =~ m{^/dev/(.*)};
    # To open a watchdog would start it.
    next if $harmless{$name} || $name =~ /watchdog/ || !(-b $path || -c _);
    $tried++;
    opened($path) if sysopen(my $device, $path, O_RDONLY | O_NONBLOCK);
}
blocked($tried ? "none of $tried" : 'there is none');`,
  },
  {
    id: 'core-limit',
    title: "dump core, which the host's handler would take (setrlimit)",
    perl: `my $limit = pack('QQ', ~0, ~0); attempt('prlimit64', 0, 4, $limit, 0);`,
  },
]
