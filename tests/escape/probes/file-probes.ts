import type { Probe } from '../probe.ts'

/** Files of the kernel, of control groups and of the daemon. */
export const FILE_PROBES: readonly Probe[] = [
  { id: 'sysrq', title: 'give commands to the kernel (/proc/sysrq-trigger)', perl: `writable('/proc/sysrq-trigger');` },
  {
    id: 'core-pattern',
    title: 'a program of the host that handles core dumps (/proc/sys/kernel/core_pattern)',
    perl: `writable('/proc/sys/kernel/core_pattern');`,
  },
  {
    id: 'modprobe-path',
    title: 'a program of the host that loads modules (/proc/sys/kernel/modprobe)',
    perl: `writable('/proc/sys/kernel/modprobe');`,
  },
  {
    id: 'uevent-helper',
    title: 'a program of the host that handles devices (/sys/kernel/uevent_helper)',
    perl: `writable('/sys/kernel/uevent_helper');`,
  },
  { id: 'binfmt', title: 'an interpreter of the host (binfmt_misc)', perl: `writable('/proc/sys/fs/binfmt_misc/register');` },
  { id: 'sysctls', title: 'write any setting below /proc/sys', perl: `first_writable('/proc/sys', 20_000);` },
  { id: 'sysfs', title: 'write any file below /sys', perl: `first_writable('/sys', 2000);` },
  { id: 'kernel-memory', title: 'read the memory of the kernel (/proc/kcore)', perl: `readable('/proc/kcore');` },
  {
    id: 'kernel-log-file',
    title: 'read the log of the kernel (/dev/kmsg, /proc/kmsg)',
    // Opening /proc/kmsg is enough: to read from it would take lines from the host. A device in its place is a mask.
    perl: `
my ($device, $file, $line);
sysopen($device, '/dev/kmsg', O_RDONLY | O_NONBLOCK) and sysread($device, $line, 8192) and opened('/dev/kmsg can be read');
my $why = -e '/dev/kmsg' ? errname() : 'no /dev/kmsg';
sysopen($file, '/proc/kmsg', O_RDONLY | O_NONBLOCK) and !-c $file and opened('/proc/kmsg can be read');
blocked($why);`,
  },
  {
    id: 'kernel-addresses',
    title: 'addresses of the kernel (/proc/kallsyms)',
    perl: String.raw`
open(my $symbols, '<', '/proc/kallsyms') or blocked(errname());
while (<$symbols>) { opened('an address') if /^0*[1-9a-f][0-9a-f]*\s/ }
blocked('zeros only');`,
    absent: /^blocked: zeros only$/,
  },
  { id: 'key-list', title: 'the keys of the host (/proc/keys)', perl: `readable('/proc/keys');` },
  { id: 'timer-list', title: 'the timers of the host (/proc/timer_list)', perl: `readable('/proc/timer_list');` },
  {
    id: 'release-agent',
    title: 'a program of the host that a control group starts (release_agent)',
    perl: String.raw`
for my $agent (glob('/sys/fs/cgroup/*/release_agent /sys/fs/cgroup/release_agent')) {
    opened($agent) if sysopen(my $file, $agent, O_WRONLY);
}
my %version = map { /^(\S+)\s+(\d+)/ ? ($1 => $2) : () } split /\n/, slurp('/proc/cgroups') // '';
my $error = 'no hierarchy of version 1';
for my $name (grep { ($version{$_} // 0) > 0 } qw(memory pids cpu devices freezer)) {
    my $at = scratch();
    if (sys('mount', "cgroup", "$at", "cgroup", 0, "$name") == 0) {
        my $found = sysopen(my $file, "$at/release_agent", O_WRONLY);
        my $why = errname();
        sys('umount2', "$at", 2);
        opened("release_agent of $name") if $found;
        $error = $why;
    }
    else { $error = errname() }
    last;
}
$error =~ /^no / ? absent($error) : blocked($error);`,
  },
  {
    id: 'cgroup-files',
    title: 'write any file of the control groups, such as the own limits',
    perl: `first_writable('/sys/fs/cgroup', 5000);`,
  },
  {
    id: 'engine-socket-file',
    title: "the engine's socket (file)",
    perl: `
my ($path) = grep { -S $_ } qw(/var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock) or absent('no such file');
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or blocked(errname());
connect($s, pack_sockaddr_un($path)) or blocked(errname());
opened($path);`,
  },
  {
    id: 'daemon-files',
    title: 'change the daemon in its volume',
    perl: `
my ($daemon) = grep { -f $_ } glob('/opt/sandyard/* /opt/sandyard/*/*') or absent('no daemon is visible');
sysopen(my $file, $daemon, O_WRONLY) and opened("$daemon can be written");
my $why = errname();
rename($daemon, "$daemon.moved") and do { rename("$daemon.moved", $daemon); opened("$daemon can be renamed") };
spurt('/opt/sandyard/escape', 'x') and do { unlink('/opt/sandyard/escape'); opened('files can be added') };
chmod(0777, $daemon) and opened('the mode can be changed');
blocked($why);`,
  },
  {
    id: 'daemon-files-linked',
    title: "change the daemon's volume through links",
    perl: `
my ($daemon) = grep { -f $_ } glob('/opt/sandyard/* /opt/sandyard/*/*') or absent('no daemon is visible');
my $here = scratch();
my @errors;
if (link($daemon, "$here/hard")) { sysopen(my $file, "$here/hard", O_WRONLY) and opened('by a hard link') }
push @errors, errname();
symlink($daemon, "$here/soft");
sysopen(my $file, "$here/soft", O_WRONLY) and opened('by a symbolic link');
blocked(join(' and ', @errors, errname()));`,
  },
]
