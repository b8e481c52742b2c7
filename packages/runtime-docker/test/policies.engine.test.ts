import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import { DEFAULT_EGRESS, type EgressPolicy, type RefusedPackets, type SandboxSpec } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import type { EngineBench } from './support/engine-bench.ts'
import { sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { tableName } from '../src/egress/base-rules.ts'
import { Guard } from '../src/egress/guard.ts'
import { openParts } from '../src/runtime-parts.ts'
import { repairEgress } from '../src/upkeep/repair-egress.ts'
import { onHost } from './support/host-shell.ts'
import { openOutsideBench } from './support/outside-bench.ts'
import { OUTSIDE, type Bystander } from './support/outside-world.ts'

const installation = `test-${randomId(8)}`
const REFUSED = 'ECONNREFUSED'
const CLOSED: EgressPolicy = { ...DEFAULT_EGRESS, allowInternet: false }

/** As many addresses as a policy may have, none beside another. */
const many = (first: number): string[] => Array.from({ length: 999 }, (_, at) => `${first}.${Math.floor(at / 200)}.${at % 200}.1`)
const LONG: EgressPolicy = { ...DEFAULT_EGRESS, allowOut: many(20), denyOut: [...many(30), OUTSIDE.public] }

/** Holds a connection with a slow request, at most 30 s, and prints how many lines it could send. */
const HELD = String.raw`
trap '' PIPE
exec 3<>/dev/tcp/$1/$2 && printf 'GET /health HTTP/1.1\r\n' >&3 && echo > /held
for line in $(seq 300); do printf 'X-Line: 1\r\n' >&3 2> /dev/null || break; sleep 0.1; done
echo lines $line
`

/** Dials all the time, one connection after the other, and keeps the outcomes. */
/** A refused dial ends with 1, one that is too late, also on a busy machine, with 124. */
const DIAL_LOOP = String.raw`
while :; do timeout 20 bash -c 'exec 3<>/dev/tcp/'$1'/'$2 2> /dev/null && echo open || echo closed $?; done > $3 2>&1 &
`

describe('egress policies', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let image: string
  let witness: Bystander

  beforeAll(async () => {
    ;({ bench, runtime, image, witness } = await openOutsideBench(stack, { installation }))
  })
  afterAll(() => stack.disposeAsync())

  async function start(egress: EgressPolicy): Promise<{ spec: SandboxSpec; inside: Inside }> {
    const spec = sandboxSpec({ image, egress })
    return { spec, inside: new Inside(await runtime.create(spec)) }
  }

  const { port } = OUTSIDE
  const dialPublic = (inside: Inside): Promise<string> => inside.dial(OUTSIDE.public, port)

  it.for<[string, Partial<EgressPolicy>, string]>([
    ['the internet is denied', { allowInternet: false }, REFUSED],
    ['everything is denied', { denyOut: ['0.0.0.0/0'] }, REFUSED],
    ['its address is denied', { denyOut: [OUTSIDE.public] }, REFUSED],
    ['its network is denied', { denyOut: ['198.51.100.0/24'] }, REFUSED],
    ['another network is denied', { denyOut: ['203.0.113.0/24'] }, 'open'],
    ['its address is allowed and the internet denied', { allowInternet: false, allowOut: [OUTSIDE.public] }, 'open'],
    ['its network is allowed and all is denied', { denyOut: ['0.0.0.0/0'], allowOut: ['198.51.100.0/24'] }, 'open'],
    ['it is allowed and denied', { allowOut: [OUTSIDE.public], denyOut: ['198.51.100.0/24'] }, 'open'],
    ['everything is allowed and denied', { allowOut: ['0.0.0.0/0'], denyOut: ['0.0.0.0/0'] }, 'open'],
    ['networks in each other are denied', { denyOut: ['198.51.0.0/16', '198.51.100.0/24', OUTSIDE.public] }, REFUSED],
    ['only another address is allowed', { allowInternet: false, allowOut: ['203.0.113.7'] }, REFUSED],
  ])('a public address when %s: %j is %s', async ([, change, expected]) => {
    expect(await dialPublic(witness.inside), 'without rules').toBe('open')
    const { spec, inside } = await start({ ...DEFAULT_EGRESS, ...change })
    expect(await dialPublic(inside)).toBe(expected)
    await runtime.remove(spec)
  })

  it('cannot open what is closed to every sandbox', async () => {
    const { spec, inside } = await start({ ...DEFAULT_EGRESS, allowOut: ['0.0.0.0/0', OUTSIDE.metadata, OUTSIDE.private] })
    for (const host of [OUTSIDE.metadata, OUTSIDE.private, OUTSIDE.sharedSpace]) {
      expect(await witness.inside.dial(host, port), 'without rules').toBe('open')
      expect(await inside.dial(host, port)).toBe(REFUSED)
    }
    await runtime.remove(spec)
  })

  it('a closed sandbox resolves no names, and is served from outside', async () => {
    const { spec, inside } = await start(CLOSED)
    expect(await inside.isHealthy()).toBe(true)
    expect((await inside.sh('RES_OPTIONS="timeout:1 attempts:1" getent ahostsv4 some.example.org')).code).not.toBe(0)
    await runtime.setEgress(spec, DEFAULT_EGRESS)
    expect((await inside.sh('getent ahostsv4 some.example.org')).stdout).toContain(OUTSIDE.public)
    await runtime.remove(spec)
  })

  it('a change ends the connections that the new policy denies, and not those from outside', async () => {
    const { spec, inside } = await start(DEFAULT_EGRESS)
    // The answer to this comes over a connection from outside that is open during the change.
    const held = inside.run(['/bin/bash', '-c', HELD, 'held', OUTSIDE.public, String(port)])
    await pollUntil({ what: 'the connection', timeoutMs: 20_000, everyMs: 20 }, () => inside.readFile('/held'))
    await runtime.setEgress(spec, { ...DEFAULT_EGRESS, denyOut: ['203.0.113.0/24'] })
    await inside.sh('sleep 0.5')
    await runtime.setEgress(spec, { ...DEFAULT_EGRESS, denyOut: [OUTSIDE.public] })
    const { stdout } = await held
    expect(stdout).toMatch(/^lines \d+\n$/)
    expect(Number(stdout.split(' ')[1]), 'after the first change').toBeGreaterThan(5)
    expect(Number(stdout.split(' ')[1]), 'before its own end').toBeLessThan(300)
    expect(await dialPublic(inside)).toBe(REFUSED)
    await runtime.remove(spec)
  })

  it('a replacement is atomic: what both policies allow stays open, what both deny never opens', async () => {
    const { spec, inside } = await start(CLOSED)
    const policies = [
      { ...CLOSED, allowOut: [OUTSIDE.public] },
      { ...CLOSED, allowOut: ['198.51.100.0/24', '203.0.113.7'] },
      { ...DEFAULT_EGRESS, denyOut: ['203.0.113.0/24'] },
      DEFAULT_EGRESS,
    ]
    await runtime.setEgress(spec, CLOSED)
    await runtime.setEgress(spec, policies[0] ?? CLOSED)
    await inside.writeFile('/loop.sh', DIAL_LOOP)
    await inside.sh(`bash /loop.sh ${OUTSIDE.public} ${port} /allowed; bash /loop.sh ${OUTSIDE.metadata} ${port} /denied`)
    for (let round = 0; round < 40; round += 1) await runtime.setEgress(spec, policies[round % policies.length] ?? CLOSED)
    await pollUntil({ what: 'dials of both', timeoutMs: 20_000, everyMs: 50 }, async () =>
      Number((await inside.sh('cat /allowed /denied | wc -l')).stdout) > 20 ? true : undefined,
    )
    expect((await inside.sh('sort -u /allowed')).stdout).toBe('open\n')
    expect((await inside.sh('sort -u /denied')).stdout).toBe('closed 1\n')
    await runtime.remove(spec)
  })

  it.for(['memory', 'files'] as const)('are kept over a pause that keeps %s, and can be changed meanwhile', async (keep) => {
    const denied = { ...DEFAULT_EGRESS, denyOut: [OUTSIDE.public] }
    const { spec } = await start(denied)
    const resume = async (egress: EgressPolicy): Promise<Inside> => {
      const handle = await runtime.pause(spec, keep)
      await runtime.setEgress(spec, egress)
      return new Inside((await runtime.resume(handle, { spec: { ...spec, egress }, keep: 'memory' })).endpoint)
    }
    expect(await dialPublic(await resume(denied))).toBe(REFUSED)
    expect(await dialPublic(await resume(DEFAULT_EGRESS))).toBe('open')
    expect(await dialPublic(await resume(CLOSED))).toBe(REFUSED)
    await runtime.remove(spec)
  })

  it('hold when another process of the installation changes them', async () => {
    const other = await bench.runtime({ installation, resolvers: [OUTSIDE.resolver] })
    const { spec, inside } = await start(CLOSED)
    for (const [at, expected] of [
      [other, 'open'],
      [runtime, REFUSED],
      [other, 'open'],
    ] as const) {
      await at.setEgress(spec, expected === 'open' ? DEFAULT_EGRESS : CLOSED)
      expect(await dialPublic(inside)).toBe(expected)
    }
    await other.remove(spec)
    // The next sandbox may get the same address.
    const next = await start(DEFAULT_EGRESS)
    expect(await dialPublic(next.inside)).toBe('open')
    await runtime.remove(next.spec)
  })

  it('that alternate are replaced exactly, whichever process changes them, and the addresses in policies are never listed', async () => {
    // No repair of another process beside the first changes.
    const own = { installation: `test-${randomId(8)}`, resolvers: [OUTSIDE.resolver] }
    const one = await bench.runtime(own)
    const spec = sandboxSpec({ image })
    const endpoint = await one.create(spec)
    const inside = new Inside(endpoint)
    const suffix = endpoint.host.replaceAll('.', '_')
    /** What nftables has for the sandbox: the entries for its address, and how many addresses its own sets have. */
    const inForce = async (): Promise<unknown> => {
      const list = (what: string): string => `nft list ${what} 2> /dev/null`
      const table = tableName(own.installation)
      const [bound = '', source, ...sizes] = (
        await onHost(
          bench.docker,
          image,
          [
            `${list(`set bridge ${table} bound`)} | grep -c ' ${endpoint.host}[ ,]' || true`,
            `${list(`map inet ${table} by_source`)} | grep -o '${endpoint.host} : goto [a-z0-9_]*'`,
            ...['a', 'd'].map((set) => `${list(`set inet ${table} ${set}_${suffix}`)} | grep -o '[0-9][0-9]*[.][0-9.]*' | wc -l`),
            `${list(`chain inet ${table} p_${suffix}`)} | grep -c goto || true`,
          ].join('\n'),
        )
      ).split(/\r?\n/)
      return { bound, chain: source?.split(' ').at(-1), sizes: sizes.slice(0, 3) }
    }
    const ofDefault = { bound: '1', chain: 'open', sizes: ['0', '0', '0'] }
    const ofLong = { bound: '1', chain: `p_${suffix}`, sizes: ['999', '1000', '4'] }
    const lists = vi.spyOn(Guard.prototype, 'list')
    try {
      await inside.writeFile('/loop.sh', DIAL_LOOP)
      await inside.sh(`bash /loop.sh ${OUTSIDE.metadata} ${port} /denied`)
      for (let round = 0; round < 10; round += 1) await one.setEgress(spec, round % 2 === 0 ? LONG : DEFAULT_EGRESS)
      expect(await inForce()).toEqual(ofDefault)
      expect(lists.mock.calls.filter(([, owner]) => owner === endpoint.host)).toEqual([])
      const other = await bench.runtime(own)
      const changes = [
        { at: other, to: LONG },
        { at: one, to: DEFAULT_EGRESS },
        { at: one, to: LONG },
        { at: other, to: DEFAULT_EGRESS },
        { at: other, to: LONG },
        { at: one, to: { ...LONG, allowOut: many(40) } },
        { at: other, to: DEFAULT_EGRESS },
        { at: one, to: DEFAULT_EGRESS },
        { at: other, to: LONG },
        { at: one, to: LONG },
      ]
      for (const [step, { at, to }] of changes.entries()) {
        await at.setEgress(spec, to)
        expect(await inForce(), `step ${step}`).toEqual(to === DEFAULT_EGRESS ? ofDefault : ofLong)
        expect(await dialPublic(inside), `step ${step}`).toBe(to === DEFAULT_EGRESS ? 'open' : REFUSED)
      }
      // Sets as an earlier version has left them.
      const sets = ['a', 'd'].map((set) => `inet ${tableName(own.installation)} ${set}_${suffix}`)
      const earlier = sets.map((set) => `delete set ${set}; add set ${set} { type ipv4_addr; flags interval; auto-merge; }`)
      const chain = `flush chain inet ${tableName(own.installation)} p_${suffix}`
      await onHost(bench.docker, image, `nft '${[chain, ...earlier].join('; ')}'`)
      await (await bench.runtime(own)).setEgress(spec, LONG)
      expect(await inForce(), 'after an earlier version').toEqual(ofLong)
      expect((await inside.sh('sort -u /denied')).stdout).toBe('closed 1\n')
      const found = JSON.stringify(await Promise.all(lists.mock.results.map(({ value }) => value as unknown)))
      expect(found).toContain(endpoint.host)
      expect(found).not.toContain(many(20)[0])
    } finally {
      lists.mockRestore()
    }
    await one.remove(spec)
  })

  it('leave no rules after a repair when one process makes a sandbox, another changes its policy, and the first removes it', async () => {
    const other = await bench.runtime({ installation, resolvers: [OUTSIDE.resolver] })
    const { egress, ...parts } = await openParts(bench.options({ installation, resolvers: [OUTSIDE.resolver] }))
    if (egress === undefined) throw new Error('the egress rules are not enforced')
    await using _ = egress
    const { spec } = await start(DEFAULT_EGRESS)
    await other.setEgress(spec, CLOSED)
    const own = [...(await egress.registered()).marks.keys()]
    expect(own).toHaveLength(1)
    await runtime.remove(spec)
    // The repair that each runtime makes every minute may have come first.
    expect([...(await egress.registered()).marks.keys()]).toBeOneOf([own, []])
    await repairEgress({ ...parts, egress, apply: async () => undefined })
    expect([...(await egress.registered()).marks.keys()]).not.toContain(own[0])
  })

  it('of a new sandbox stay when its address was found stale before it started', async () => {
    const { egress } = await openParts(bench.options({ installation, resolvers: [OUTSIDE.resolver] }))
    if (egress === undefined) throw new Error('the egress rules are not enforced')
    await using _ = egress
    const before = await egress.registered()
    const spec = sandboxSpec({ image })
    const endpoint = await runtime.create(spec)
    const inside = new Inside(endpoint)
    await egress.unregisterSeen(endpoint.host, before)
    expect(await dialPublic(inside)).toBe('open')
    await egress.unregisterSeen(endpoint.host, await egress.registered())
    expect((await egress.registered()).bound.map(({ address }) => address)).not.toContain(endpoint.host)
    await runtime.remove(spec)
  })

  it('a sandbox that has all its connections open gets no more, and its neighbour does', async () => {
    const egressLimits = { connections: 5, newConnectionsPerSecond: 0, packetsPerSecond: 0, bytesPerSecond: 0 }
    const limited = await bench.runtime({ resolvers: [OUTSIDE.resolver], egressLimits })
    const [inside, neighbour] = [
      new Inside(await limited.create(sandboxSpec({ image }))),
      new Inside(await limited.create(sandboxSpec({ image }))),
    ]
    const hold = `for i in 1 2 3 4 5; do exec {fd}<>/dev/tcp/${OUTSIDE.public}/${port}; done; echo > /held; sleep 60`
    await inside.run(['/bin/bash', '-c', `(${hold}) > /dev/null 2>&1 &`])
    await pollUntil({ what: 'five connections', timeoutMs: 20_000, everyMs: 20 }, () => inside.readFile('/held'))
    expect(await dialPublic(inside)).toBe('timeout')
    expect(await dialPublic(neighbour)).toBe('open')
    expect(await inside.isHealthy(), 'connections from outside are not counted').toBe(true)
  })

  it('reports what was refused, with the rule, the sandbox and the destination', async () => {
    const refused: RefusedPackets[] = []
    const watching = await bench.runtime({ resolvers: [OUTSIDE.resolver], onRefused: (packets) => refused.push(...packets) })
    const { host } = await watching.create(sandboxSpec({ image, egress: { ...DEFAULT_EGRESS, denyOut: [OUTSIDE.public] } }))
    const inside = new Inside({ host, daemonPort: port })
    for (const address of [OUTSIDE.metadata, OUTSIDE.public]) expect(await inside.dial(address, port)).toBe(REFUSED)
    await pollUntil({ what: 'both reports', timeoutMs: 20_000, everyMs: 50 }, () => (refused.length >= 2 ? true : undefined))
    const tcp = { source: host, protocol: 'tcp', port }
    expect(refused).toEqual([
      { ...tcp, rule: 'always_closed', address: OUTSIDE.metadata, count: 1 },
      { ...tcp, rule: 'deny', address: OUTSIDE.public, count: 1 },
    ])
  })
})
