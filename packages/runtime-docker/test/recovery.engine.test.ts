import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { containerSpec } from '../src/containers/container-spec.ts'
import { startSandbox } from '../src/containers/start-sandbox.ts'
import { DockerRuntime } from '../src/docker-runtime.ts'
import { containerName, LABEL, networkName, roleFilter } from '../src/labels.ts'
import type { DockerRuntimeOptions } from '../src/runtime-options.ts'
import { openParts, type RuntimeParts } from '../src/runtime-parts.ts'
import { followAnswer } from '../src/engine/follow-answer.ts'
import { ENGINE, EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { buildTestImage } from './support/test-images.ts'

const SETTINGS = String.raw`
FROM debian:bookworm-slim
ENV LD_LIBRARY_PATH=/opt/lib GREETING="say \"\$hi\" \\"
WORKDIR /srv
USER 7:7
`

describe('the recovery of a runtime', () => {
  const installation = `test-${randomId(8)}`
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let parts: RuntimeParts

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open({ ownDist: true }))
    runtime = await bench.runtime({ installation })
    parts = await openParts(bench.options({ installation }))
    stack.defer(() => parts.egress?.[Symbol.asyncDispose]())
  })
  afterAll(() => stack.disposeAsync())

  /** Images of the installation that have no name. */
  async function traces(): Promise<string[]> {
    const filters = JSON.stringify({ label: [`${LABEL.installation}=${installation}`], dangling: ['true'] })
    return (await bench.docker.listImages({ filters })).map(({ Id }) => Id)
  }

  async function containers(): Promise<number> {
    return (await bench.docker.listContainers({ all: true, filters: roleFilter(installation, 'sandbox') })).length
  }

  it('completes a container that a dead process had created but not started', async () => {
    const spec = sandboxSpec()
    await bench.docker.createContainer({ ...containerSpec(parts.plan(), spec, spec.image), name: containerName(installation, spec) })
    expect(await runtime.list()).toMatchObject([{ sandboxId: spec.sandboxId, state: 'stopped' }])
    expect(await new Inside(await runtime.create(spec)).isHealthy()).toBe(true)
    await runtime.remove(spec)
  })

  it('completes a container that a dead process had started', async () => {
    const spec = sandboxSpec()
    const options = { ...containerSpec(parts.plan(), spec, spec.image), name: containerName(installation, spec) }
    await (await bench.docker.createContainer(options)).start()
    expect(await new Inside(await runtime.create(spec)).isHealthy()).toBe(true)
    await runtime.remove(spec)
  })

  it('connects a container that a dead process had started and not connected', async () => {
    const spec = sandboxSpec()
    const options = { ...containerSpec(parts.plan(), spec, spec.image), name: containerName(installation, spec) }
    const container = await bench.docker.createContainer(options)
    await bench.docker.getNetwork(networkName(installation)).disconnect({ Container: container.id })
    await container.start()
    const other = await bench.runtime({ installation })
    // Two servers that complete it at the same time get the same sandbox.
    const [endpoint, same] = await Promise.all([runtime.create(spec), other.create(spec)])
    expect(same).toEqual(endpoint)
    expect(await new Inside(endpoint).isHealthy()).toBe(true)
    await runtime.remove(spec)
  })

  it('starts no sandbox when its rules cannot be put in force', async () => {
    const spec = sandboxSpec()
    const refusal = new AppError('internal', 'The egress rules could not be put in force.')
    const options = containerSpec(parts.plan(), spec, spec.image)
    const request = { name: containerName(installation, spec), options, policy: spec.egress, signal: undefined }
    const egress = { register: () => Promise.reject(refusal) }
    await expect(startSandbox({ ...parts, egress }, request)).rejects.toBe(refusal)
    expect(await containers()).toBe(0)
  })

  it('rejects a policy that is not valid, and a station that is on no port', async () => {
    const spec = sandboxSpec()
    const { host } = await runtime.create(spec)
    const register = (mac: string, policy: EgressPolicy): Promise<void> | undefined =>
      parts.egress?.register({ address: host, mac }, policy)
    await expect(register('02:00:00:00:00:01', DEFAULT_EGRESS)).rejects.toMatchObject({ kind: 'internal' })
    const policy = { ...DEFAULT_EGRESS, denyOut: ['not an address'] }
    await expect(runtime.setEgress(spec, policy)).rejects.toMatchObject({ kind: 'invalid_argument' })
    await runtime.remove(spec)
  })

  it('creates a pruned network and a pruned volume again', async () => {
    await bench.docker.getNetwork(networkName(installation)).remove()
    await bench.docker.getVolume(bench.volume).remove()
    const spec = sandboxSpec()
    expect(await new Inside(await runtime.create(spec)).isHealthy()).toBe(true)
    await runtime.remove(spec)
  })

  it('reaches its sandboxes when another process, which knows a former network, learns of new addresses of the host', async () => {
    await using networks = new AsyncDisposableStack()
    const add = async (name: string, IPAM?: object): Promise<string | undefined> => {
      const network = await bench.docker.createNetwork({ Name: `${installation}-${name}`, ...(IPAM && { IPAM }) })
      networks.defer(() => network.remove())
      return (await network.inspect()).IPAM?.Config?.[0]?.['Gateway']
    }
    const former = bench.docker.getNetwork(networkName(installation))
    const { IPAM } = await former.inspect()
    await former.remove()
    await add('has-the-subnet', { Config: IPAM?.Config })
    const spec = sandboxSpec()
    const inside = new Inside(await runtime.create(spec))
    const address = (await add('more')) ?? ''
    const addresses = { what: 'the new address of the host', timeoutMs: 20_000, everyMs: 20 }
    await pollUntil(addresses, () => (parts.egress?.host.addresses.includes(address) ? true : undefined))
    await parts.egress?.registered()
    expect(await inside.isHealthy()).toBe(true)
    await runtime.remove(spec)
  })

  it('creates one network for two concurrent processes', async () => {
    const race = `test-${randomId(8)}`
    const opened = await Promise.all([bench, bench, bench].map(() => openParts(bench.options({ installation: race }))))
    const bridges = await Promise.all(opened.map(({ network }) => network.ensure()))
    expect(new Set(bridges.map(({ id }) => id)).size).toBe(1)
    for (const { egress } of opened) await egress?.[Symbol.asyncDispose]()
  })

  it('leaves nothing behind after an abort at any moment', async () => {
    for (const afterMs of [20, 150, 300, 450]) {
      const abort = new AbortController()
      const reason = new Error('aborted')
      const created = runtime.create(sandboxSpec(), abort.signal)
      setTimeout(() => abort.abort(reason), afterMs)
      const outcome = await created.then(
        () => 'created',
        (err: unknown) => err,
      )
      if (outcome === 'created') break
      expect(outcome).toBe(reason)
      expect(await containers()).toBe(0)
    }
  })

  it('removes the guard when its process dies', async () => {
    const { installation: killed } = bench.options()
    const script = new URL('./support/hold-runtime.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [script, killed, bench.dist.dir, bench.dist.version, ...(ENGINE === undefined ? [] : [ENGINE])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const guards = () => bench.docker.listContainers({ all: true, filters: roleFilter(killed, 'guard') })
    await once(createInterface({ input: child.stdout }), 'line')
    expect(await guards()).toHaveLength(1)
    child.kill('SIGKILL')
    await pollUntil({ what: 'the end of the guard', timeoutMs: 20_000, everyMs: 50 }, async () =>
      (await guards()).length === 0 ? true : undefined,
    )
  })

  it.for([100, 1])('keeps the settings of the image and none of the sandbox in a snapshot (flattened at %s layers)', async (maxLayers) => {
    const taking = await bench.runtime({ installation, maxLayers })
    const image = await buildTestImage(bench.docker, 'settings', SETTINGS)
    const spec = sandboxSpec({ image })
    await new Inside(await taking.create(spec)).writeFile('/kept', 'yes')
    const snapshot = await taking.snapshot(spec, { name: spec.sandboxId, keep: 'files' })
    const { Config, RootFS } = await bench.docker.getImage(snapshot.image).inspect()
    expect(JSON.stringify(Config)).not.toMatch(/-instance|INSTANCE_FILE=|daemon\.mjs/)
    expect(Config.Labels[LABEL.sandboxId]).toBe('')
    if (maxLayers === 1) expect(RootFS.Layers?.length).toBeLessThanOrEqual(2)
    const { env, workdir, user } = await taking.images.inspect(image)
    expect(await taking.images.inspect(snapshot.image)).toMatchObject({ env, workdir, user })
    expect(env).toMatchObject({ LD_LIBRARY_PATH: '/opt/lib', GREETING: 'say "$hi" \\' })

    const second = sandboxSpec()
    const copy = new Inside(await taking.createFrom(snapshot, second))
    expect(await copy.environment()).toMatchObject({ GREETING: env['GREETING'] })
    expect(await copy.readFile('/kept')).toBe('yes')
    const again = await taking.snapshot(second, { name: second.sandboxId, keep: 'files' })
    expect(await taking.images.inspect(again.image)).toMatchObject({ env, workdir, user })
    for (const ref of [spec, second]) await taking.remove(ref)
    for (const kept of [snapshot, again]) await taking.deleteSnapshot(kept)
    expect(await traces()).toEqual([])
  })

  it('removes half-made images of dead processes, but not those of a build in progress', async () => {
    const label = (role: string, build: string): string[] => [
      `LABEL ${LABEL.installation}=${installation}`,
      `LABEL ${LABEL.role}=${role}`,
      `LABEL ${LABEL.build}=${build}`,
    ]
    const make = async (changes: string[]): Promise<void> => {
      await followAnswer(await bench.docker.importImage(Readable.from([Buffer.alloc(1024)]), { changes }))
    }
    await make(label('snapshot', ''))
    await make(label('flatten', ''))
    await make(label('dockerfile', 'somebody'))
    await parts.images.sweep()
    expect(await traces()).toHaveLength(2)
    await parts.kept.removeAll()
    expect(await traces()).toEqual([])
  })

  it.for<[string, Partial<DockerRuntimeOptions>, string, RegExp]>([
    ['an unknown OCI runtime', { ociRuntime: 'nowhere' }, 'failed_precondition', /no runtime "nowhere".*runc/],
    ['an invalid network', { openPrivate: ['10.0.0.0/33'] }, 'invalid_argument', /"10\.0\.0\.0\/33"/],
    ['an invalid installation name', { installation: 'A/b' }, 'invalid_argument', /"A\/b"/],
    ['an absent engine', { dockerHost: 'unix:///nowhere.sock' }, 'unavailable', /cannot be reached/],
    ['an invalid distribution', { daemonDist: { dir: '/nowhere', version: 'x' } }, 'failed_precondition', /\/nowhere\/dist\.json/],
  ])('does not open with %s, and reports the reason', async ([, change, kind, message]) => {
    const options = { ...bench.options({ installation }), ...change }
    await expect(DockerRuntime.open(options)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) })
  })
})
