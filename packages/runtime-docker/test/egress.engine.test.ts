import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { networkName, roleFilter } from '../src/labels.ts'
import type { EngineBench } from './support/engine-bench.ts'
import { sandboxSpec } from './support/engine-bench.ts'
import { onHost } from './support/host-shell.ts'
import { Inside } from './support/inside.ts'
import { openOutsideBench } from './support/outside-bench.ts'
import type { OutsideWorld } from './support/outside-world.ts'
import { HOST_ADDRESS, OUTSIDE, type Bystander } from './support/outside-world.ts'
import { buildTestImage } from './support/test-images.ts'

const installation = `test-${randomId(8)}`
/** The error of a dial that the rules refuse: they answer with a reset. */
const REFUSED = 'ECONNREFUSED'

/** Before it is registered, a sandbox gets no answer. */
const EARLY = [REFUSED, 'ENETUNREACH', 'EHOSTUNREACH', 'timeout']

/** The status, or the name of the error. */
async function outcome(asked: Promise<Response>): Promise<string> {
  return asked.then(
    ({ status }) => String(status),
    (err: Error) => err.name,
  )
}

describe('default egress', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let world: OutsideWorld
  let runtime: DockerRuntime
  let image: string
  let gateway: string
  let witness: Bystander
  /** A container on the sandbox network that is not registered. */
  let stranger: Bystander
  let neighbour: SandboxEndpoint
  let sandbox: Inside

  beforeAll(async () => {
    ;({ bench, world, runtime, image, witness } = await openOutsideBench(stack, { installation }))
    stranger = await world.bystander(networkName(installation))
    neighbour = await runtime.create(sandboxSpec({ image }))
    gateway = neighbour.host.replace(/\.\d+$/, '.1')
    sandbox = await start()
  })
  afterAll(() => stack.disposeAsync())

  async function start(change: Parameters<typeof sandboxSpec>[0] = {}, on: DockerRuntime = runtime): Promise<Inside> {
    return new Inside(await on.create(sandboxSpec({ image, ...change })))
  }

  /** The stand-in daemon dials the closed address from its start on. */
  function earlyImage(): Promise<string> {
    return buildTestImage(bench.docker, 'early', `FROM ${image}\nENV STAND_IN_EARLY=${OUTSIDE.metadata}:${OUTSIDE.port}\n`)
  }

  const closedDoors: [string, () => [string, number]][] = [
    ['the metadata address', () => [OUTSIDE.metadata, OUTSIDE.port]],
    ['the metadata address of another cloud', () => [OUTSIDE.sharedSpace, OUTSIDE.port]],
    ['a private address', () => [OUTSIDE.private, OUTSIDE.port]],
    ['the resolver on another port than 53', () => [OUTSIDE.resolver, OUTSIDE.port]],
    ['a server of the host, by the gateway', () => [gateway, world.hostPort]],
    ["a server of the host, by the host's own address", () => [HOST_ADDRESS, world.hostPort]],
  ]

  it.for(closedDoors)('closes %s, which is reachable without the rules', async ([, door]) => {
    expect(await witness.inside.dial(...door()), 'without rules').toBe('open')
    expect(await sandbox.dial(...door()), 'with rules').toBe(REFUSED)
  })

  it('keeps public addresses open and resolves names', async () => {
    expect(await sandbox.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    expect(await sandbox.sh('getent ahostsv4 some.example.org')).toMatchObject({ code: 0, stdout: expect.stringContaining(OUTSIDE.public) })
  })

  it('has IPv6 on the loopback interface and nowhere else', async () => {
    const { stdout } = await sandbox.sh("awk '{print $6}' /proc/net/if_inet6")
    expect(stdout).toBe('lo\n')
  })

  it('accepts connections from the host only', async () => {
    expect(await new Inside(neighbour).isHealthy(), 'from the host').toBe(true)
    for (const other of [sandbox, witness.inside]) {
      expect(['timeout', 'EHOSTUNREACH']).toContain(await other.dial(neighbour.host, neighbour.daemonPort))
    }
  })

  it('gives no network to a container on the sandbox network that is not registered', async () => {
    expect(await outcome(fetch(`http://${stranger.address}:${OUTSIDE.port}/health`, { signal: AbortSignal.timeout(2000) }))).toBe(
      'TimeoutError',
    )
    expect(await outcome(fetch(`http://${neighbour.host}:${neighbour.daemonPort}/health`, { signal: AbortSignal.timeout(20_000) }))).toBe(
      '204',
    )
  })

  it('is in force from the first packet on', async () => {
    const inside = await start({ image: await earlyImage() })
    const outcomes = await pollUntil({ what: 'an answer of the network', timeoutMs: 20_000, everyMs: 50 }, async () => {
      const seen = await inside.early()
      return seen.includes(REFUSED) ? seen : undefined
    })
    expect(EARLY).toEqual(expect.arrayContaining(outcomes))
  })

  it('does not reveal other sandboxes through the resolver', async () => {
    const { stdout } = await sandbox.sh(`getent hosts ${neighbour.host}; getent hosts $(hostname -i)`)
    expect(stdout).not.toMatch(/i[a-z0-9]{19}/)
  })

  it.for([
    'nft flush ruleset',
    'nft delete table inet sandyard',
    'nft add table inet mine',
    'iptables -P OUTPUT ACCEPT',
    'iptables -F',
    'iptables-legacy -F',
    'ip link set eth0 down',
    'ip route add 10.99.0.0/16 via 127.0.0.1',
    'ip address add 10.0.0.9/24 dev eth0',
    'ip netns add mine',
    'unshare --net true',
    'unshare --map-root-user --net true',
    'nsenter --target 1 --net true',
    'capsh --caps=cap_net_admin+eip -- -c true',
    'sysctl -w net.ipv6.conf.eth0.disable_ipv6=0 || echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6',
    'mount -o remount,rw /proc/sys',
  ])('root inside cannot bypass the rules: %s', async (command) => {
    const { code, stdout, stderr } = await sandbox.sh(`PATH=$PATH:/usr/sbin:/sbin; ${command}`)
    expect(code, stdout + stderr).not.toBe(0)
    expect(code, 'the tool exists').not.toBe(127)
    expect(await sandbox.dial(OUTSIDE.metadata, OUTSIDE.port)).toBe(REFUSED)
  })

  it('is in force from the first packet on when a sandbox resumes from its files', async () => {
    const spec = sandboxSpec({ image: await earlyImage() })
    await runtime.create(spec)
    const { endpoint } = await runtime.resume(await runtime.pause(spec, 'files'), { spec, keep: 'memory' })
    const inside = new Inside(endpoint)
    const outcomes = await pollUntil({ what: 'an answer of the network', timeoutMs: 20_000, everyMs: 50 }, async () => {
      const seen = await inside.early()
      return seen.includes(REFUSED) ? seen : undefined
    })
    expect(EARLY).toEqual(expect.arrayContaining(outcomes))
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    expect(await inside.dial(neighbour.host, neighbour.daemonPort)).not.toBe('open')
  })

  it('stays in force after a pause that keeps memory', async () => {
    const spec = sandboxSpec({ image })
    await runtime.create(spec)
    const handle = await runtime.pause(spec, 'memory')
    const inside = new Inside((await runtime.resume(handle, { spec, keep: 'memory' })).endpoint)
    expect(await inside.dial(OUTSIDE.private, OUTSIDE.port)).toBe(REFUSED)
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
  })

  it('opens the private networks that the operator names, and no network that is always closed', async () => {
    const openPrivate = ['10.77.0.0/24', `${OUTSIDE.metadata}/32`, `${HOST_ADDRESS}/32`]
    const inside = await start({}, await bench.runtime({ openPrivate, controlNetworks: ['10.77.0.53/32'], resolvers: ['10.77.0.10'] }))
    expect(await inside.dial(OUTSIDE.private, OUTSIDE.port)).toBe('open')
    expect(await inside.dial(OUTSIDE.resolver, OUTSIDE.port), 'a control network').toBe(REFUSED)
    expect(await inside.dial(OUTSIDE.metadata, OUTSIDE.port)).toBe(REFUSED)
    expect(await inside.dial(HOST_ADDRESS, world.hostPort)).toBe(REFUSED)
  })

  it('closes an address that the host gets later', async () => {
    const address = '198.51.100.77'
    await onHost(bench.docker, image, `ip address add ${address}/32 dev lo`)
    try {
      expect(await witness.inside.dial(address, world.hostPort)).toBe('open')
      await pollUntil({ what: 'the address to be closed', timeoutMs: 20_000, everyMs: 50 }, async () =>
        (await sandbox.dial(address, world.hostPort)) === REFUSED ? true : undefined,
      )
      expect(await sandbox.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    } finally {
      await onHost(bench.docker, image, `ip address del ${address}/32 dev lo`)
    }
  })

  it('replaces a dead guard', async () => {
    const guards = () => bench.docker.listContainers({ filters: roleFilter(installation, 'guard') })
    const [guard] = await guards()
    await bench.docker.getContainer(guard?.Id ?? '').kill()
    const inside = await start()
    expect(await inside.dial(OUTSIDE.metadata, OUTSIDE.port)).toBe(REFUSED)
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    const [successor, ...more] = await guards()
    expect(more).toEqual([])
    expect(successor?.Id).not.toBe(guard?.Id)
  })
})
