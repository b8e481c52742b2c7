package Escape;
# What the probes share. Each probe is a program that prints one line: "open: ...", "blocked: ...", "absent: ..." or "sent".
# Only perl-base is used: every Debian image has it.
use strict;
use warnings;
use Errno;
use Exporter 'import';
use Fcntl;
use IO::Socket;
use POSIX ();
use Socket;

our @EXPORT = qw(opened blocked absent sent errname sys attempt permitted writable first_writable readable dial ask dns_query marker
  route own_address gateway target bytes_of_mac ether_frame ipv4 udp arp send_frames send_xdp sniffable daemon_pid scratch slurp spurt
  poke mmap_area capabilities link_local host_devices search);

our $WAIT = 2.5;

sub opened  { print "open: @_\n";    POSIX::_exit(0) }
sub blocked { print "blocked: @_\n"; POSIX::_exit(0) }
sub absent  { print "absent: @_\n";  POSIX::_exit(0) }
# The frames left this program without an error. Whether they arrived anywhere is seen by those who listen outside.
sub sent { print "sent\n"; POSIX::_exit(0) }
$| = 1;

sub errname {
    local $! = $_[0] if @_;
    my ($name) = sort { length $a <=> length $b || $a cmp $b } grep { $!{$_} } keys %!;
    return $name // 'no error';
}

my %NUMBERS = (
    x86_64 => {
        read => 0, mmap => 9, ioctl => 16, clone => 56, ptrace => 101, syslog => 103, capset => 126, prctl => 157, mount => 165, umount2 => 166,
        ioperm => 173, init_module => 175, setxattr => 188, add_key => 248, keyctl => 250, mknodat => 259, unshare => 272, perf_event_open => 298,
        inotify_init1 => 294, name_to_handle_at => 303, open_by_handle_at => 304, setns => 308, process_vm_readv => 310, finit_module => 313,
        bpf => 321, userfaultfd => 323, kexec_load => 246, prlimit64 => 302, acct => 163, swapon => 167,
    },
    aarch64 => {
        read => 63, mmap => 222, ioctl => 29, clone => 220, ptrace => 117, syslog => 116, capset => 91, prctl => 167, mount => 40, umount2 => 39,
        init_module => 105, setxattr => 5, add_key => 217, keyctl => 219, mknodat => 33, unshare => 97, perf_event_open => 241,
        inotify_init1 => 26, name_to_handle_at => 264, open_by_handle_at => 265, setns => 268, process_vm_readv => 270, finit_module => 273,
        bpf => 280, userfaultfd => 282, kexec_load => 104, prlimit64 => 261, acct => 89, swapon => 224,
    },
);
# The same on every machine.
my %COMMON = (
    io_uring_setup => 425, open_tree => 428, move_mount => 429, fsopen => 430, fsconfig => 431, fsmount => 432, pidfd_open => 434, clone3 => 435,
    pidfd_getfd => 438, mount_setattr => 442,
);

# A system call by its name; -1 and $! as usual.
sub sys {
    my ($name, @arguments) = @_;
    chomp(my $machine = (POSIX::uname())[4]);
    my $number = $COMMON{$name} // $NUMBERS{$machine}{$name};
    absent("no $name on $machine") unless defined $number;
    return syscall($number, @arguments);
}

sub attempt {
    my ($name, @arguments) = @_;
    my $result = sys($name, @arguments);
    $result >= 0 ? opened("$name succeeded") : blocked(errname());
}

# For calls that check the permission first: the errors in @$passes mean that it was granted.
sub permitted {
    my ($passes, $name, @arguments) = @_;
    my $result = sys($name, @arguments);
    opened("$name is permitted") if $result >= 0 || grep { $!{$_} } @$passes;
    blocked(errname());
}

# Opens for writing and writes nothing: the permission is checked when the file is opened.
sub writable {
    my ($path) = @_;
    absent("no $path") unless -e $path || -l $path;
    sysopen(my $file, $path, O_WRONLY) ? opened("$path can be written") : blocked(errname());
}

# The first file below a directory that can be opened for writing; at most $cap are tried.
sub first_writable {
    my ($root, $cap) = @_;
    my @folders = ($root);
    my $tried = 0;
    my %errors;
    while (defined(my $folder = shift @folders)) {
        opendir(my $handle, $folder) or next;
        for my $name (sort grep { !/^\.\.?$/ } readdir $handle) {
            my $path = "$folder/$name";
            next if -l $path;
            if (-d _) { push @folders, $path; next }
            next unless -f _;
            last if ++$tried > $cap;
            opened("$path can be written") if sysopen(my $file, $path, O_WRONLY | O_NONBLOCK);
            $errors{ errname() }++;
        }
        last if $tried > $cap;
    }
    absent("no files below $root") unless $tried;
    my ($most) = sort { $errors{$b} <=> $errors{$a} } keys %errors;
    blocked("$most for each of $tried files");
}

# Reads one byte.
sub readable {
    my ($path) = @_;
    absent("no $path") unless -e $path;
    sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or blocked(errname());
    my $read = sysread($file, my $bytes, 1);
    blocked(errname()) unless defined $read;
    $read > 0 ? opened("$path can be read") : blocked('empty');
}

sub slurp {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or return undef;
    local $/;
    return scalar <$file>;
}

sub spurt {
    my ($path, $bytes) = @_;
    open(my $file, '>:raw', $path) or return 0;
    print $file $bytes;
    return close $file;
}

# A new directory of this probe.
sub scratch {
    my $path = '/tmp/escape-' . $$ . '-' . int(rand(1e9));
    mkdir $path or die "mkdir $path: $!";
    return $path;
}

# A required value of the environment.
sub target {
    my ($name) = @_;
    my $value = $ENV{$name};
    die "$name is not set" unless defined $value && $value ne '';
    return $value;
}

# What those who listen outside look for in frames.
sub marker { return "escape:$ENV{PROBE}:$ENV{PLACE};" }

# Connects and reports the outcome.
sub dial {
    my ($host, $port, $family) = @_;
    $family //= AF_INET;
    my ($error, @found) = Socket::getaddrinfo($host, $port, { family => $family, socktype => SOCK_STREAM, flags => Socket::AI_NUMERICHOST() });
    blocked("no such address: $error") if $error || !@found;
    socket(my $socket, $family, SOCK_STREAM, 0) or blocked(errname());
    fcntl($socket, F_SETFL, fcntl($socket, F_GETFL, 0) | O_NONBLOCK);
    if (!connect($socket, $found[0]{addr})) {
        blocked(errname()) unless $!{EINPROGRESS};
        my $ready = '';
        vec($ready, fileno($socket), 1) = 1;
        select(undef, $ready, undef, $WAIT) or blocked('silence');
        my $code = unpack('i', getsockopt($socket, SOL_SOCKET, SO_ERROR));
        blocked(errname($code)) if $code;
    }
    opened("connected to $host port $port");
}

# Sends a datagram, several times, and reports whether anything came back.
sub ask {
    my ($host, $port, $payload) = @_;
    socket(my $socket, AF_INET, SOCK_DGRAM, 0) or blocked(errname());
    my $end = time + 3;
    connect($socket, pack_sockaddr_in($port, inet_aton($host))) or blocked(errname());
    while (time < $end) {
        send($socket, $payload, 0) or blocked(errname());
        my $ready = '';
        vec($ready, fileno($socket), 1) = 1;
        next unless select($ready, undef, undef, 0.7);
        defined(recv($socket, my $answer, 2000, 0)) or blocked(errname());
        opened("$host port $port answered");
    }
    blocked('silence');
}

# A query for the address of a name that carries the marker.
sub dns_query {
    my ($name) = @_;
    $name //= marker() . '.tunnel.example.org';
    return pack('n6', 7, 0x0100, 1, 0, 0, 0) . join('', map { pack('C/a', $_) } split(/\./, $name)) . "\0" . pack('n2', 1, 1);
}

# The interface and the gateway of the default route.
sub route {
    for (split /\n/, slurp('/proc/net/route') // '') {
        my ($name, $to, $via) = split;
        return ($name, join('.', reverse unpack('C4', pack('H8', $via)))) if defined $to && $to eq '00000000';
    }
    blocked('no route');
}

sub gateway { return (route())[1] }

sub own_address {
    socket(my $socket, AF_INET, SOCK_DGRAM, 0) or blocked(errname());
    connect($socket, pack_sockaddr_in(9, inet_aton(gateway()))) or blocked(errname());
    return inet_ntoa((unpack_sockaddr_in(getsockname($socket)))[1]);
}

sub bytes_of_mac { return pack('H12', join('', split(/:/, $_[0]))) }

sub ether_frame {
    my ($to, $from, $type, $payload) = @_;
    my $frame = bytes_of_mac($to) . bytes_of_mac($from) . $type . $payload;
    return $frame . "\0" x (60 - length $frame > 0 ? 60 - length $frame : 0);
}

sub ipv4 {
    my ($from, $to, $protocol, $payload) = @_;
    my $header = sub { pack('CCnnnCCn', 0x45, 0, 20 + length $payload, 1, 0, 64, $protocol, $_[0]) . inet_aton($from) . inet_aton($to) };
    my $sum = 0;
    $sum += $_ for unpack('n*', $header->(0));
    $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
    return $header->(~$sum & 0xffff) . $payload;
}

sub udp {
    my ($port, $payload) = @_;
    return pack('n4', 4053, $port, 8 + length $payload, 0) . $payload;
}

sub arp {
    my ($operation, $mac, $address, $to_mac, $to) = @_;
    return pack('nnCCn', 1, 0x0800, 6, 4, $operation) . bytes_of_mac($mac) . inet_aton($address) . bytes_of_mac($to_mac) . inet_aton($to) . marker();
}

# The interface by name and number, its address, and the gateway's. The gateway's is in the table of neighbours after a packet to it.
sub sniffable {
    my ($name, $gateway) = route();
    socket(my $hello, AF_INET, SOCK_DGRAM, 0);
    my $mac;
    for (1 .. 20) {
        send($hello, 'x', 0, pack_sockaddr_in(9, inet_aton($gateway)));
        ($mac) = (slurp('/proc/net/arp') // '') =~ /^\Q$gateway\E\s.*?((?:[0-9a-f]{2}:){5}[0-9a-f]{2})/m;
        last if defined $mac && $mac ne '00:00:00:00:00:00';
        select(undef, undef, undef, 0.1);
    }
    # Not from /sys, which may show another network namespace. SIOCGIFINDEX, SIOCGIFHWADDR.
    my ($number, $hardware) = map { my $request = pack('a16 x24', $name); ioctl($hello, $_, $request) or blocked(errname()); $request } 0x8933, 0x8927;
    my $own = join(':', unpack('x18 (H2)6', $hardware));
    return (unpack('x16 i', $number), $own, $mac // 'ff:ff:ff:ff:ff:ff');
}

# Sends the frame that $make returns, several times, by a packet socket.
sub send_frames {
    my ($make) = @_;
    # First the socket, so that a refusal of it is the answer.
    socket(my $raw, 17, SOCK_RAW, unpack('S', pack('n', 3))) or blocked(errname());
    my ($index, $own, $gateway) = sniffable();
    my $place = pack('SnlSCC', 17, 3, $index, 1, 0, 6) . bytes_of_mac($gateway) . "\0\0";
    bind($raw, $place) or blocked(errname());
    my $refused;
    my ($frame) = $make->($own, $gateway);
    for (1 .. 4) {
        send($raw, $frame, 0, $place) or $refused = errname();
        select(undef, undef, undef, 0.2);
    }
    defined $refused ? blocked($refused) : sent();
}

sub mmap_area {
    my ($length, $flags, $file, $offset) = @_;
    my $area = sys('mmap', 0, $length, 3, $flags, $file, $offset);
    die 'mmap: ' . errname() if $area == -1;
    return $area;
}

# Writes to a raw address: the kernel reads a pipe into it.
sub poke {
    my ($address, $bytes) = @_;
    pipe(my $out, my $in) or die "pipe: $!";
    syswrite($in, $bytes);
    sys('read', fileno($out), $address, length $bytes) == length $bytes or die 'poke: ' . errname();
}

# Sends a frame, several times, past the queues and their hooks, by an AF_XDP socket in copy mode.
sub send_xdp {
    my ($make) = @_;
    my ($sol, $chunk) = (283, 4096);
    socket(my $socket, 44, SOCK_RAW, 0) or blocked(errname());
    my ($index, $own, $gateway) = sniffable();
    my $area = mmap_area(16 * $chunk, 0x22, -1, 0);
    setsockopt($socket, $sol, 4, pack('QQLLLL', $area, 16 * $chunk, $chunk, 0, 0, 0))
      or setsockopt($socket, $sol, 4, pack('QQLLL x4', $area, 16 * $chunk, $chunk, 0, 0))
      or blocked('umem: ' . errname());
    for ([5, 'fill'], [6, 'completion'], [3, 'transmit']) {
        setsockopt($socket, $sol, $_->[0], pack('i', 16)) or blocked("$_->[1] ring: " . errname());
    }
    my @offsets = unpack('Q16', getsockopt($socket, $sol, 1) // '');
    my ($producer, $descriptors) = @offsets[4, 6];
    my $ring = mmap_area($descriptors + 16 * 16, 0x8001, fileno($socket), 0x80000000);
    # One socket at a time may use the queue; another probe may have it for a moment.
    my $until = time + 5;
    until (bind($socket, pack('SSLLL', 44, 2, $index, 0, 0))) {
        blocked('bind: ' . errname()) if !$!{EBUSY} || time > $until;
        select(undef, undef, undef, 0.1);
    }
    my ($frame) = $make->($own, $gateway);
    for my $number (0 .. 3) {
        poke($area + $number * $chunk, $frame);
        poke($ring + $descriptors + $number * 16, pack('QLL', $number * $chunk, length $frame, 0));
        poke($ring + $producer, pack('L', $number + 1));
        send($socket, '', 0x40) // ($!{EAGAIN} || $!{EBUSY} || blocked('send: ' . errname()));
        select(undef, undef, undef, 0.2);
    }
    sent();
}

# The daemon of the sandbox, or its stand-in in a control: the process, other than the init, that runs the program in the daemon's volume.
sub daemon_pid {
    for my $pid (sort { $a <=> $b } map { m{^/proc/(\d+)$} } glob '/proc/[0-9]*') {
        next if $pid == $$ || $pid == getppid();
        my @arguments = split /\0/, slurp("/proc/$pid/cmdline") // '';
        next unless @arguments && $arguments[0] !~ /init$/;
        return $pid if grep { m{^/opt/sandyard/.*daemon} } @arguments;
    }
    absent('no daemon is visible');
}

# The link-local address that belongs to a hardware address, on the interface of the default route.
sub link_local {
    my ($mac) = @_;
    my @bytes = unpack('C6', bytes_of_mac($mac));
    return sprintf('fe80::%x:%x:%x:%x%%%s', ($bytes[0] ^ 2) << 8 | $bytes[1], $bytes[2] << 8 | 0xff, 0xfe00 | $bytes[3], $bytes[4] << 8 | $bytes[5], (route())[0]);
}

# Device nodes of the first disk of the host, its kernel log, its processors and its file systems, each as [path, mode, major, minor].
sub host_devices {
    my ($folder) = @_;
    my ($major, $minor) = (slurp('/proc/partitions') // '') =~ /^\s*(\d+)\s+(\d+)\s+\d+\s+(?!loop|ram|zram|sr)\w+/m;
    return (defined $major ? ["$folder/disk", 0060600, $major, $minor] : (), map { ["$folder/$_->[0]", 0020600, @$_[1, 2]] } ['kmsg', 1, 11], ['kvm', 10, 232], ['fuse', 10, 229]);
}

sub name_of {
    my ($pid) = @_;
    return "process $pid (" . join(' ', map { substr $_, 0, 40 } grep { defined } (split /\0/, slurp("/proc/$pid/cmdline") // '')[0 .. 2]) . ')';
}

# Looks for secrets in the variables and the memory of every other process and in the small files of the machine. The variable has the
# secrets in hexadecimal digits and backwards, separated by commas, so that the search does not find itself.
sub search {
    my ($variable) = @_;
    my @needles = map { pack('H*', scalar reverse $_) } split /,/, target($variable);
    my $is_in = sub { my ($text) = @_; return scalar grep { index($text, $_) >= 0 } @needles };
    my @places;
    for my $pid (map { m{^/proc/(\d+)$} } glob '/proc/[0-9]*') {
        # Searches have each other's secrets in their memory.
        next if $pid == $$ || (slurp("/proc/$pid/cmdline") // '') =~ m{/escape/};
        for my $name (qw(environ cmdline)) {
            push @places, "$name of " . name_of($pid) if $is_in->(slurp("/proc/$pid/$name") // '');
        }
        open(my $memory, '<:raw', "/proc/$pid/mem") or next;
        for (split /\n/, slurp("/proc/$pid/maps") // '') {
            my ($start, $end) = /^([0-9a-f]+)-([0-9a-f]+) rw/ or next;
            ($start, $end) = (hex $start, hex $end);
            for (my $at = $start; $at < $end && $at < $start + (256 << 20); $at += 4 << 20) {
                sysseek($memory, $at, 0) or last;
                sysread($memory, my $bytes, ($end - $at < (4 << 20) ? $end - $at : (4 << 20) + 256)) or last;
                if ($is_in->($bytes)) { push @places, 'memory of ' . name_of($pid); last }
            }
        }
    }
    my @folders = qw(/etc /home /root /run /tmp /var/log /var/lib/sandyard /.e2b /opt/sandyard /usr/local/etc /dev/shm);
    my $tried = 0;
    while (defined(my $path = shift @folders)) {
        # Other probes mount there.
        next if -l $path || $path =~ m{^/tmp/escape-} || ++$tried > 20_000;
        if (-d _) { opendir(my $handle, $path) or next; push @folders, map { "$path/$_" } grep { !/^\.\.?$/ } readdir $handle; next }
        push @places, $path if -f _ && -s _ < 4 << 20 && $is_in->(slurp($path) // '');
    }
    my %kinds = map { (/^(environ|cmdline|memory)/ ? $1 : 'file') => 1 } @places;
    @places ? opened(join(', ', sort keys %kinds) . ": @places") : blocked('found nowhere');
}

# The capabilities, by number, that neither a sandbox nor a step of the engine's builder may have. The builder's set is the engine's own.
my %FORBIDDEN = (
    2 => 'DAC_READ_SEARCH', 9 => 'LINUX_IMMUTABLE', 12 => 'NET_ADMIN', 14 => 'IPC_LOCK', 15 => 'IPC_OWNER', 16 => 'SYS_MODULE',
    17 => 'SYS_RAWIO', 19 => 'SYS_PTRACE', 20 => 'SYS_PACCT', 21 => 'SYS_ADMIN', 22 => 'SYS_BOOT', 23 => 'SYS_NICE', 24 => 'SYS_RESOURCE',
    25 => 'SYS_TIME', 26 => 'SYS_TTY_CONFIG', 28 => 'LEASE', 30 => 'AUDIT_CONTROL', 32 => 'MAC_OVERRIDE', 33 => 'MAC_ADMIN',
    34 => 'SYSLOG', 35 => 'WAKE_ALARM', 36 => 'BLOCK_SUSPEND', 37 => 'AUDIT_READ', 38 => 'PERFMON', 39 => 'BPF', 40 => 'CHECKPOINT_RESTORE',
);

sub capabilities {
    my ($status) = @_;
    my %has;
    for my $mask ($status =~ /^Cap(?:Inh|Prm|Eff|Bnd|Amb):\s*([0-9a-f]+)/mg) {
        my $bits = hex $mask;
        $has{ $FORBIDDEN{$_} } = 1 for grep { $bits >> $_ & 1 } keys %FORBIDDEN;
    }
    return sort keys %has;
}

1;
