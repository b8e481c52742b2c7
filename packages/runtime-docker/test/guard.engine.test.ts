import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { randomId } from '@sandyard/kit/ids/ids'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { RecordedSpans } from '@sandyard/test-kit/recorded-spans'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tableName } from '../src/egress/base-rules.ts'
import { Guard } from '../src/egress/guard.ts'
import { ensureGuardImage } from '../src/egress/guard-image.ts'
import { bridgeName, roleFilter } from '../src/labels.ts'
import { openParts, type RuntimeParts } from '../src/runtime-parts.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { onHost } from './support/host-shell.ts'
import { Inside } from './support/inside.ts'
import { ensureToolImage } from './support/test-images.ts'

const installation = `test-${randomId(8)}`
const PRIVATE = '10.99.0.1'

describe('the egress guard', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let tools: string

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    tools = await ensureToolImage(bench.docker)
  })
  afterAll(() => stack.disposeAsync())

  /** A guard of its own, beside those of runtimes. */
  async function startGuard(): Promise<Guard> {
    const image = await ensureGuardImage(bench.docker, { progress: { step: () => undefined, detail: () => undefined } })
    const listeners = { onHost: () => undefined, onLost: () => undefined, onRefused: () => undefined }
    return Guard.start(bench.docker, { installation, image, log: silentLogger(), ...listeners })
  }

  const guards = () => bench.docker.listContainers({ filters: roleFilter(installation, 'guard') })

  it('has the right to change networks, and nothing else of the host', async () => {
    await bench.runtime({ installation })
    const [guard] = await guards()
    const { HostConfig, Mounts } = await bench.docker.getContainer(guard?.Id ?? '').inspect()
    expect(HostConfig).toMatchObject({ CapDrop: ['ALL'], CapAdd: ['NET_ADMIN'], PidMode: '', Privileged: false, ReadonlyRootfs: true })
    expect(Mounts).toEqual([])
  })

  it('registers a sandbox in a span of its create, after the calls to the engine', async () => {
    const runtime = await bench.runtime({ installation })
    using spans = new RecordedSpans()
    const spec = sandboxSpec()
    await spans.inRequest('mine', () => runtime.create(spec))
    expect(spans.names).toEqual(expect.arrayContaining(['engine POST containers', 'guard registration']))
    expect(spans.all.filter(({ start, hasEnded }) => start.name !== 'request' && !hasEnded)).toEqual([])
    await runtime.remove(spec)
  })

  it('that hangs is replaced, and its requests are served by the next one', async () => {
    const runtime = await bench.runtime({ installation })
    const spec = sandboxSpec()
    const inside = new Inside(await runtime.create(spec))
    const before = await guards()
    // The engine gives up the freeze of a container that starts a process at this moment.
    const freeze = (id: string) =>
      pollUntil({ what: 'the freeze of the guard', timeoutMs: 30_000, everyMs: 100 }, () =>
        bench.docker
          .getContainer(id)
          .pause()
          .then(
            () => true,
            () => undefined,
          ),
      )
    for (const { Id } of before) await freeze(Id)
    try {
      await runtime.setEgress(spec, { ...DEFAULT_EGRESS, allowInternet: false }).catch(() => undefined)
      await pollUntil({ what: 'a new guard', timeoutMs: 60_000, everyMs: 100 }, () =>
        runtime.setEgress(spec, DEFAULT_EGRESS).then(
          () => true,
          () => undefined,
        ),
      )
    } finally {
      for (const { Id } of before) await bench.docker.getContainer(Id).kill()
    }
    expect(await inside.dial(PRIVATE, 80)).toBe('ECONNREFUSED')
    expect((await runtime.vitals(AbortSignal.timeout(30_000))).guardRestarts).toBe(1)
    await runtime.remove(spec)
  })

  it('reports a request that nftables refuses, and serves the next one', async () => {
    await using guard = await startGuard()
    await expect(guard.apply('add rule inet absent chain accept')).rejects.toMatchObject({ kind: 'internal' })
    const port = { bridge: 'sy-absent', mac: '02:00:00:00:00:01', address: '192.0.2.1' }
    await expect(guard.apply('', { port })).rejects.toMatchObject({ kind: 'internal' })
    expect(await guard.list([['table', 'inet', 'absent']])).toEqual([null])
  })

  it('serves the process itself first, and each sandbox in its turn, in the order of its requests', async () => {
    await using guard = await startGuard()
    const served: string[] = []
    const note = (what: string, request: Promise<unknown>): Promise<void> => request.then(() => void served.push(what))
    const [rounds, owners] = [20, ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']]
    const many = Array.from({ length: rounds }, (_, round) =>
      owners.map((owner) => note(`${owner} ${round}`, guard.apply('', { owner }))),
    ).flat()
    await Promise.all([...many, note('another', guard.apply('', { owner: '192.0.2.9' })), note('process', guard.room())])
    expect(served.indexOf('process')).toBeLessThan(3)
    expect(served.indexOf('another')).toBeLessThan(owners.length + 3)
    for (const owner of owners) {
      const own = served.filter((what) => what.startsWith(owner))
      expect(own).toEqual(Array.from({ length: rounds }, (_, round) => `${owner} ${round}`))
    }
  })

  it('finds an interface that it has read before the engine gave it its address', async () => {
    const [bridge, near, far] = [`syb${randomId(8)}`, `syn${randomId(8)}`, `syf${randomId(8)}`]
    const machine = await bench.docker.createContainer({ Image: tools, Cmd: ['sleep', '600'], HostConfig: { NetworkMode: 'none' } })
    stack.defer(() => machine.remove({ force: true }))
    await machine.start()
    const { State } = await machine.inspect()
    const [early, late] = ['02:00:00:00:00:01', '02:00:00:00:00:02']
    const port = { bridge, mac: late, address: '192.0.2.7' }
    const setAddress = (mac: string): Promise<string> =>
      onHost(bench.docker, tools, `nsenter -t ${State.Pid} -n ip link set ${far} address ${mac}`)
    stack.defer(async () => void (await onHost(bench.docker, tools, `ip link delete ${bridge}`)))
    await onHost(
      bench.docker,
      tools,
      `ip link add ${bridge} type bridge; ip link add ${near} master ${bridge} type veth peer name ${far} netns ${State.Pid}`,
    )
    await setAddress(early)
    await using guard = await startGuard()
    await expect(guard.apply('', { port })).rejects.toMatchObject({ kind: 'internal' })
    await setAddress(late)
    expect(await guard.apply('', { port })).toBe(near)
  })

  it('puts all rules in force again after somebody has deleted them, and nothing is forwarded meanwhile', async () => {
    const own = `test-${randomId(8)}`
    const closed = { ...DEFAULT_EGRESS, allowInternet: false }
    const [open, shut] = [sandboxSpec(), sandboxSpec({ egress: closed })]
    const wanted = new Map([open, shut].map(({ sandboxId, egress }) => [sandboxId, egress]))
    const runtime = await bench.runtime({ installation: own, wantedEgress: async () => wanted })
    const [inside] = [new Inside(await runtime.create(open)), new Inside(await runtime.create(shut))]
    const parts: RuntimeParts = await openParts(bench.options({ installation: own, wantedEgress: async () => wanted }))
    stack.defer(() => parts.egress?.[Symbol.asyncDispose]())
    const registered = async (): Promise<number> => (await parts.egress?.registered())?.bound.length ?? 0
    expect(await registered()).toBe(2)
    for (let round = 0; round < 3; round += 1) {
      await onHost(bench.docker, tools, `nft delete table inet ${tableName(own)}; nft delete table bridge ${tableName(own)}`)
      await pollUntil({ what: 'the registrations', timeoutMs: 20_000, everyMs: 20 }, async () =>
        (await registered().catch(() => 0)) === 2 ? true : undefined,
      )
      expect(await inside.dial(PRIVATE, 80)).toBe('ECONNREFUSED')
    }
    for (const spec of [open, shut]) await runtime.remove(spec)
    // A repair beside a removal may register a sandbox that has ended; the next one, a minute later, finds that.
    await pollUntil({ what: 'the end of the registrations', timeoutMs: 100_000, everyMs: 20 }, async () =>
      (await registered()) === 0 ? true : undefined,
    )
  })

  it('removes the rules of an installation whose network is gone, and no other tables', async () => {
    const gone = tableName(`gone-${randomId(8)}`)
    const foreign = `foreign-${randomId(8)}`
    const tables = (): Promise<string> => onHost(bench.docker, tools, 'nft list tables')
    await onHost(bench.docker, tools, `nft add table inet ${gone}; nft add table bridge ${gone}; nft add table inet ${foreign}`)
    try {
      await bench.runtime({ installation })
      await pollUntil({ what: 'the removal', timeoutMs: 30_000, everyMs: 100 }, async () =>
        (await tables()).includes(gone) ? undefined : true,
      )
      expect(await tables()).toContain(foreign)
      expect(await tables()).toContain(tableName(installation))
    } finally {
      await onHost(bench.docker, tools, `nft delete table inet ${foreign}`)
    }
  })

  it('makes a sandbox reachable at once whose address another one has had', async () => {
    const own = `test-${randomId(8)}`
    const runtime = await bench.runtime({ installation: own })
    const [earlier, later] = [sandboxSpec(), sandboxSpec()]
    const { host } = await runtime.create(earlier)
    await runtime.remove(earlier)
    await onHost(bench.docker, tools, `ip neigh replace ${host} lladdr 02:00:00:00:00:99 dev ${bridgeName(own)} nud reachable`)
    const endpoint = await runtime.create(later)
    expect(endpoint.host).toBe(host)
    await onHost(bench.docker, tools, `ip neigh show ${host} | grep -v 02:00:00:00:00:99`)
    expect(await new Inside(endpoint).isHealthy()).toBe(true)
    await runtime.remove(later)
  })
})
