import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { randomId } from '@sandyard/kit/ids/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EgressControl, type Namespace } from '../src/egress/egress-control.ts'
import { Guard } from '../src/egress/guard.ts'
import { ensureGuardImage } from '../src/egress/guard-image.ts'
import { containerName, roleFilter } from '../src/labels.ts'
import { SandboxNetwork, type Bridge } from '../src/network/sandbox-network.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { buildTestImage } from './support/test-images.ts'

/** A ruleset with this resolver hangs. */
const HANGS = '10.99.99.99'
const WORKS = '10.99.99.1'

describe('a ruleset that hangs in the guard', () => {
  const [sandboxes, guards] = [`test-${randomId(8)}`, `test-${randomId(8)}`]
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let bridge: Bridge
  let namespaces: Omit<Namespace, 'resolvers'>[]

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    const runtime = await bench.runtime({ installation: sandboxes })
    bench.options({ installation: guards })
    bridge = await new SandboxNetwork(bench.docker, sandboxes).ensure()
    const specs = [sandboxSpec(), sandboxSpec()]
    for (const spec of specs) await runtime.create(spec)
    const found = await Promise.all(specs.map((spec) => bench.docker.getContainer(containerName(sandboxes, spec)).inspect()))
    namespaces = found.map(({ Id, State }) => ({ pid: State.Pid, containerId: Id }))
  })
  afterAll(() => stack.disposeAsync())

  /** A guard whose `nft` hangs on some rulesets. */
  async function openEgress(env: string, answerTimeoutMs?: number): Promise<EgressControl> {
    const progress = { step: () => undefined, detail: () => undefined }
    const image = await buildTestImage(
      bench.docker,
      'guard',
      `FROM ${await ensureGuardImage(bench.docker, progress)}\n${env}\n` +
        String.raw`RUN printf '#!/bin/sh\ncase "$1" in *${HANGS}*) exec sleep 1000;; esac\nexec /usr/sbin/nft "$@"\n' > /usr/local/bin/nft && chmod +x /usr/local/bin/nft` +
        '\n',
    )
    const log = silentLogger()
    const control = new EgressControl({
      settings: { openPrivate: [], controlNetworks: [], ingressSources: [] },
      log,
      startGuard: (onHost) =>
        Guard.start(bench.docker, {
          installation: guards,
          image,
          log,
          onHost,
          ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
        }),
      readResolvers: async () => [],
    })
    await control.open()
    return control
  }

  const guardIds = async (): Promise<string[]> =>
    (await bench.docker.listContainers({ all: true, filters: roleFilter(guards, 'guard') })).map(({ Id }) => Id)

  it.for<[string, string, number | undefined]>([
    ['fails after its deadline', '', 3000],
    ['is ended by the guard', 'ENV NFT_SECONDS=2', undefined],
  ])('%s, does not block others, and the guard keeps running', async ([, env, answerTimeoutMs]) => {
    await using egress = await openEgress(env, answerTimeoutMs)
    const running = await guardIds()
    const [hanging, other] = namespaces
    if (hanging === undefined || other === undefined) throw new Error('no sandboxes')
    let isOver = false
    const late = egress.enforce({ ...hanging, resolvers: [HANGS] }, bridge).catch((err: unknown) => err)
    void late.then(() => (isOver = true))
    for (let round = 0; round < 5; round += 1) await egress.enforce({ ...other, resolvers: [WORKS] }, bridge)
    expect(isOver).toBe(false)
    expect(await late).toMatchObject({ kind: 'deadline_exceeded' })
    await egress.enforce({ ...hanging, resolvers: [WORKS] }, bridge)
    expect(await guardIds()).toEqual(running)
  })
})
