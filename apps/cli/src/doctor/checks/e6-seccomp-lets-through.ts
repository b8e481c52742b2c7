import { fail, ok, skipped, type Check, type Finding } from '../check.ts'
import { sharesKernel } from '../shared-kernel.ts'

/** Numbers of the calls on `uname -m`, with harmless arguments, in Perl. `$z` is a buffer of 256 zeros. */
const CALLS: Readonly<Record<string, readonly (readonly [name: string, call: string])[]>> = {
  x86_64: calls({ socket: 41, unshare: 272, ioUring: 425, keyctl: 250, bpf: 321, mount: 165 }),
  aarch64: calls({ socket: 198, unshare: 97, ioUring: 425, keyctl: 219, bpf: 280, mount: 40 }),
}

interface Numbers {
  readonly socket: number
  readonly unshare: number
  readonly ioUring: number
  readonly keyctl: number
  readonly bpf: number
  readonly mount: number
}

function calls(number: Numbers): readonly (readonly [name: string, call: string])[] {
  return [
    ['AF_VSOCK', `${number.socket}, 40, 1, 0`],
    ['AF_PACKET', `${number.socket}, 17, 3, 0`],
    ['a user namespace', `${number.unshare}, 0x10000000`],
    ['io_uring', `${number.ioUring}, 1, $z`],
    ['keyctl', `${number.keyctl}, 0, -3, 0`],
    ['bpf', `${number.bpf}, 9999, $z, 72`],
    ['mount', `${number.mount}, 0, 0, 0, 0, 0`],
  ]
}

/** A filter answers with EPERM or ENOSYS; any other answer comes from the kernel behind it. */
const DENIED: readonly number[] = [1, 38]

export const seccompLetsThrough: Check = {
  id: 'E6',
  title: 'What seccomp lets through',
  checks: 'in a sandbox: AF_VSOCK, AF_PACKET, user namespace, io_uring, keyctl, bpf, mount. Fails for each call that reaches the kernel',
  why: 'These calls are where most escapes through the kernel begin; no program of a sandbox needs them.',
  todo: 'Use an engine with seccomp on x86_64 or aarch64, where sandboxes get the profile of Sandyard (SECURITY.md), or gVisor.',
  isDeep: true,
  async run(facts): Promise<Finding> {
    const { DefaultRuntime } = await facts.engine.info()
    const runtime = facts.settings.sandboxRuntime ?? DefaultRuntime
    if (!sharesKernel(runtime)) return ok(`the calls of sandboxes reach the kernel of ${runtime}, not that of the host`)
    const sandbox = await facts.sandboxes.first()
    const architecture = (await sandbox.run('uname -m')).stdout.trim()
    const probes = CALLS[architecture]
    if (probes === undefined) return skipped(`the numbers of the calls are not known for ${architecture}`)
    const { exitCode, stdout } = await sandbox.run(`perl -e '${program(probes.map(([, call]) => call))}'`)
    const errors = stdout.trim().split('\n').map(Number)
    if (exitCode !== 0 || errors.length !== probes.length) return skipped('the template "base" has no perl to make the calls with')
    const through = probes.filter((_probe, at) => !DENIED.includes(errors[at] ?? 0)).map(([name]) => name)
    return through.length === 0 ? ok(`denied: ${probes.map(([name]) => name).join(', ')}`) : fail(`sandboxes may use ${through.join(', ')}`)
  },
}

/** Prints the number of the error of each call, 0 for success. Each has a process of its own. */
function program(all: readonly string[]): string {
  const lines = all.map((call) => `p(sub { syscall(${call}) });`).join(' ')
  return (
    '$| = 1; my $z = "\\0" x 256; sub p { my $c = fork; if ($c) { waitpid($c, 0); return } ' +
    `$! = 0; my $r = $_[0]->(); print(($r < 0 ? $! + 0 : 0), "\\n"); exit 0 } ${lines}`
  )
}
