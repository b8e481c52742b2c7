import { constants } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEPT_CAPABILITIES } from '../src/containers/container-spec.ts'
import { SECCOMP_JSON } from '../src/seccomp/seccomp-profile.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { ALLOWED_PROBES, DENIED_PROBES, probeProgram, readResults, runConfined } from './support/system-calls.ts'
import { ensureToolImage } from './support/test-images.ts'

const { EPERM, ENOSYS, EAFNOSUPPORT, ESOCKTNOSUPPORT } = constants.errno as typeof constants.errno & { ESOCKTNOSUPPORT?: number }
/** The kernel does not have the call or the family. */
const ABSENT: readonly (number | undefined)[] = [ENOSYS, EAFNOSUPPORT, ESOCKTNOSUPPORT ?? 94]
/** With these the kernel refuses none of the calls for a lack of rights. */
const STRONG =
  'DAC_READ_SEARCH NET_ADMIN NET_RAW SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_TIME SYSLOG'.split(' ')
const NO_NUMBERS = process.arch === 'x64' ? undefined : `absent here: the numbers of system calls for ${process.arch}`

/**
 * A static program for 32-bit x86: opens an AF_VSOCK socket by `socketcall`, which has the family in memory, and ends with the number of the
 * error.
 */
const SOCKETCALL_PROGRAM =
  'f0VMRgEBAQAAAAAAAAAAAAIAAwABAAAAVIAECDQAAAAAAAAAAAAAADQAIAABAAAAAAAAAAEAAAAAAAAAAIAECACABAiEAAAAhAAAAAUAAAAAEAAAuGYAAAC7' +
  'AQAAALl4gAQIzYCFwHkG99iJw+sCMdu4AQAAAM2AKAAAAAEAAAAAAAAA'

describe('the seccomp profile of a sandbox', () => {
  const stack = new AsyncDisposableStack()
  const probes = [...DENIED_PROBES, ...ALLOWED_PROBES]
  let bench: EngineBench
  let inside: Inside
  let results: Map<string, number>
  let unconfined: Map<string, number>

  beforeAll(async () => {
    if (NO_NUMBERS !== undefined) return
    bench = stack.use(await EngineBench.open())
    const runtime = await bench.runtime()
    inside = new Inside(await runtime.create(sandboxSpec({ image: await ensureToolImage(bench.docker) })))
    await inside.writeFile('/probe.pl', probeProgram(probes))
    results = readResults((await inside.sh('perl /probe.pl')).stdout)
    const options = { seccomp: 'unconfined', capabilities: STRONG }
    unconfined = readResults(await runConfined(bench.docker, ['perl', '-e', probeProgram(probes)], options))
  })
  afterAll(() => stack.disposeAsync())

  it.for(DENIED_PROBES.map(({ name }) => [name] as const))('denies %s', ([name], context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const control = unconfined.get(name)
    expect(control, 'without the profile').toSatisfy((error: unknown) => typeof error === 'number' && error !== EPERM)
    expect(results.get(name)).toBe(EPERM)
    if (ABSENT.includes(control)) context.skip('absent here: without the profile too')
  })

  it.for(ALLOWED_PROBES.map(({ name }) => [name] as const))('allows %s', ([name], context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    expect(results.get(name)).toBe(unconfined.get(name))
    expect(results.get(name)).not.toBe(EPERM)
  })

  it('denies clone3 and calls that are newer than the profile as if the kernel were older', async (context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const program = probeProgram([
      { name: 'clone3', call: '435, $zeros, 8' },
      { name: 'newest', call: '1000, 0' },
    ])
    await inside.writeFile('/newest.pl', program)
    expect(Object.fromEntries(readResults((await inside.sh('perl /newest.pl')).stdout))).toEqual({ clone3: ENOSYS, newest: ENOSYS })
  })

  it('denies sockets of 32-bit programs, whose family a filter cannot see', async (context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const script = `echo ${SOCKETCALL_PROGRAM} | base64 -d > /tmp/socketcall && chmod +x /tmp/socketcall && /tmp/socketcall`
    expect((await inside.sh(script)).code).toBe(ENOSYS)
    const control = await runConfined(bench.docker, ['/bin/sh', '-c', script], { seccomp: 'unconfined' })
    if (!control.endsWith('exit 0\n')) context.skip(`absent here: 32-bit programs or AF_VSOCK (${control.trim()})`)
  })

  it('lets a process trace its children, also those that it has not started traced', async (context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const script = `
      my $child = fork; if (!$child) { sleep 60; exit }
      my $failed = syscall(101, 16, $child, 0, 0);
      syscall(61, $child, my $status = pack('i', 0), 0x40000000, 0);
      print $failed ? "attach: $!" : unpack('i', $status) == 0x137f ? 'stopped' : 'not stopped';
      kill 9, $child`
    expect((await inside.run(['perl', '-e', script])).stdout).toBe('stopped')
  })

  it('lets a user of the sandbox install packages', async (context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const { code, stdout, stderr } = await inside.sh(
      "su user -c 'sudo apt-get update && sudo apt-get install --yes --no-install-recommends hello && hello'",
      120_000,
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toContain('Hello, world!')
  })

  it('allows other containers of an engine whose default it is what their capabilities need', async (context) => {
    if (NO_NUMBERS !== undefined) return context.skip(NO_NUMBERS)
    const program = probeProgram(probes)
    const needed = ['AF_PACKET socket', 'mount', 'setns', 'unshare of mounts', 'clone with a network namespace', 'fsopen', 'syslog']
    const run = async (capabilities: readonly string[]): Promise<Map<string, number>> =>
      readResults(await runConfined(bench.docker, ['perl', '-e', program], { seccomp: SECCOMP_JSON, capabilities }))
    const [plain, strong] = [await run(KEPT_CAPABILITIES), await run(STRONG)]
    for (const name of needed) {
      expect(plain.get(name), name).toBe(EPERM)
      expect(strong.get(name), name).toBe(unconfined.get(name))
    }
  })
})
