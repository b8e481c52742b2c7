import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { SystemPaths } from '../../src/containers/system-paths.ts'
import { DEBIAN } from './engine-bench.ts'

/** One system call with harmless arguments. */
export interface Probe {
  readonly name: string
  /** The number for x86_64 and the arguments, in Perl. `$zeros` is a buffer of 256 zeros. */
  readonly call: string
}

/**
 * A Perl program that makes each call in a process of its own and prints `name<TAB>number of the error`, 0 for success. `perl-base` is in
 * every image of Debian.
 */
export function probeProgram(probes: readonly Probe[]): string {
  const lines = probes.map(({ name, call }) => `probe('${name}', sub { syscall(${call}) });`)
  return `
    $| = 1;
    my $zeros = "\\0" x 256;
    sub probe {
      my ($name, $call) = @_;
      my $child = fork;
      if ($child) { waitpid($child, 0); print "$name\\t-1\\n" if $? & 127; return }
      $! = 0;
      my $result = $call->();
      # A clone that succeeds returns twice, the second time as 0.
      print "$name\\t" . ($result < 0 ? $! + 0 : 0) . "\\n" unless $result == 0 && $name =~ /^clone/;
      exit 0;
    }
    ${lines.join('\n    ')}
  `
}

/** The error of each call by name. */
export function readResults(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => /^\S.*\t-?\d+$/.test(line))
  return new Map(lines.map((line) => [line.split('\t')[0] ?? '', Number(line.split('\t')[1])]))
}

export interface Confinement {
  readonly image?: string
  /** The engine's default when absent. */
  readonly seccomp?: string
  readonly capabilities?: readonly string[]
  /** The engine's lists when absent. */
  readonly systemPaths?: SystemPaths
}

/** The output of a command in a container without a network, and its exit code at the end. */
export async function runConfined(docker: Docker, command: readonly string[], confinement: Confinement): Promise<string> {
  const { image = DEBIAN, seccomp, capabilities = [], systemPaths: paths } = confinement
  const container = await docker.createContainer({
    name: `sandyard-test-${randomId(8)}`,
    Image: image,
    Entrypoint: [...command],
    Cmd: [],
    Tty: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      CapAdd: [...capabilities],
      SecurityOpt: ['apparmor=unconfined', ...(seccomp === undefined ? [] : [`seccomp=${seccomp}`])],
      ...(paths === undefined ? {} : { MaskedPaths: [...paths.masked], ReadonlyPaths: [...paths.readOnly] }),
    },
  })
  try {
    await container.start()
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    const text = (await container.logs({ stdout: true, stderr: true })).toString('utf8').replaceAll('\r\n', '\n')
    return `${text}exit ${code}\n`
  } finally {
    await container.remove({ force: true })
  }
}

const DENIED = `
  AF_PACKET socket: 41, 17, 3, 0
  AF_ALG socket: 41, 38, 5, 0
  AF_VSOCK socket: 41, 40, 1, 0
  AF_VSOCK socket with a high bit: 41, 40 + 2 ** 32, 1, 0
  AF_XDP socket: 41, 44, 3, 0
  AF_CAN socket: 41, 29, 3, 0
  AF_RDS socket: 41, 21, 5, 0
  io_uring_setup: 425, 1, $zeros
  io_uring_register: 427, -1, 0, 0, 0
  keyctl: 250, 0, -3, 0
  add_key: 248, 'user', 'probe', 'x', 1, -3
  request_key: 249, 'user', 'probe', 0, 0
  bpf: 321, 9999, $zeros, 72
  perf_event_open: 298, 0, 0, -1, -1, 0
  userfaultfd: 323, 1
  open_tree: 428, -100, '/', 0
  move_mount: 429, -1, '', -1, '', 0
  fsopen: 430, 'none such', 0
  fsconfig: 431, -1, 0, 0, 0, 0
  fsmount: 432, -1, 0, 0
  fspick: 433, -100, '/none such', 0
  mount_setattr: 442, -1, '', 0, $zeros, 32
  mount: 165, 0, 0, 0, 0, 0
  umount2: 166, '/none such', 0
  pivot_root: 155, '/none such', '/'
  kexec_load: 246, 0, 1000, 0, 0
  init_module: 175, 0, 0, 0
  finit_module: 313, -1, '', 0
  delete_module: 176, 'none such', 0
  clone with a user namespace: 56, 0x10000011, 0, 0, 0, 0
  clone with a network namespace: 56, 0x40000011, 0, 0, 0, 0
  unshare of users: 272, 0x10000000
  unshare of mounts: 272, 0x20000
  unshare of time: 272, 0x80
  setns: 308, -1, 0
  open_by_handle_at: 304, -1, $zeros, 0
  kcmp: 312, $$, $$, 0, 0, 1
  pidfd_getfd: 438, -1, 0, 0
  syslog: 103, 10, 0, 0
  acct: 163, '/none such'
  swapon: 167, '/none such', 0
  reboot: 169, 0, 0, 0, 0
  settimeofday: 164, 0, 0
  sethostname: 170, '', -1
  iopl: 172, 0
  lookup_dcookie: 212, 0, 0, 0
`

const ALLOWED = `
  AF_UNIX socket: 41, 1, 1, 0
  AF_INET socket: 41, 2, 1, 0
  AF_INET6 socket: 41, 10, 1, 0
  AF_NETLINK socket: 41, 16, 3, 0
  AF_UNIX socketpair: 53, 1, 1, 0, $zeros
  unshare of file tables: 272, 0x400
  personality without random addresses: 135, 0x40000
  ptrace of itself: 101, 0, 0, 0, 0
  process_vm_readv of itself: 310, $$, $zeros, 0, $zeros, 0, 0
  chroot: 161, '/'
  inotify_init1: 294, 0
  memfd_create: 319, 'probe', 0
  io_setup: 206, 1, $zeros
  seccomp: 317, 2, 0, $zeros
`

/** Calls that sandboxes cannot make. The names are unique. */
export const DENIED_PROBES: readonly Probe[] = parse(DENIED)
/** Calls that programs in sandboxes need. */
export const ALLOWED_PROBES: readonly Probe[] = parse(ALLOWED)

function parse(table: string): Probe[] {
  return table
    .trim()
    .split('\n')
    .map((line) => ({ name: line.split(': ')[0]?.trim() ?? '', call: writable(line.slice(line.indexOf(': ') + 2)) }))
}

/** Perl's syscall takes only texts that it could change. */
function writable(call: string): string {
  return call.replaceAll(/'[^']*'/g, (text, at) => `(my $text${at} = ${text})`)
}
