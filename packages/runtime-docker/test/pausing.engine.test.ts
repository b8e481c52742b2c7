import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ImageRef, Keep, PauseHandle, RuntimeState, SandboxSpec } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { containerSpec } from '../src/containers/container-spec.ts'
import { containerName, LABEL } from '../src/labels.ts'
import { resumeSandbox, type ResumeContainer } from '../src/pauses/resume-sandbox.ts'
import { openParts, type RuntimeParts } from '../src/runtime-parts.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'

const COUNTER = 'i=0; while :; do i=$((i+1)); echo $i > /dev/shm/count; sleep 0.01; done'

describe('paused containers', () => {
  const installation = `test-${randomId(8)}`
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let parts: RuntimeParts

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    runtime = await bench.runtime({ installation })
    parts = await openParts(bench.options({ installation }))
    stack.defer(() => parts.egress?.[Symbol.asyncDispose]())
  })
  afterAll(() => stack.disposeAsync())

  async function startPaused(keep: Keep): Promise<{ spec: SandboxSpec; handle: PauseHandle }> {
    const spec = sandboxSpec()
    await new Inside(await runtime.create(spec)).writeFile('/root/kept', 'yes')
    return { spec, handle: await runtime.pause(spec, keep) }
  }

  async function stateOf({ sandboxId }: SandboxSpec): Promise<RuntimeState | undefined> {
    return (await runtime.list(sandboxId))[0]?.state
  }

  /** The request that the runtime makes of a handle. */
  function requestOf(spec: SandboxSpec, handle: PauseHandle): ResumeContainer {
    const startedAt = String(handle['startedAt'])
    const replacement = { installation, optionsFor: (image: ImageRef) => containerSpec(parts.plan(), spec, image) }
    return { name: containerName(installation, spec), policy: spec.egress, keep: handle.keep, startedAt, signal: undefined, replacement }
  }

  it('start from their files with all that was written', async () => {
    const { spec, handle } = await startPaused('files')
    const { host } = await resumeSandbox(parts, requestOf(spec, handle))
    const inside = new Inside({ host, daemonPort: parts.daemonPort })
    expect(await inside.readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
  })

  it('stay, stopped, when their rules cannot be put in force, and resume later', async () => {
    const { spec, handle } = await startPaused('files')
    const refusal = new AppError('internal', 'The egress rules could not be put in force.')
    const egress = { register: () => Promise.reject(refusal) }
    await expect(resumeSandbox({ ...parts, egress }, requestOf(spec, handle))).rejects.toBe(refusal)
    expect(await stateOf(spec)).toBe('stopped')
    const { endpoint } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
  })

  it('stay, stopped, after an abort at any moment of a resume, and resume later', async () => {
    const { spec, handle } = await startPaused('files')
    for (const afterMs of [20, 150, 300, 450]) {
      const abort = new AbortController()
      const reason = new Error('aborted')
      const resumed = runtime.resume(handle, { spec, keep: 'memory' }, abort.signal)
      setTimeout(() => abort.abort(reason), afterMs)
      const outcome = await resumed.then(
        () => 'resumed',
        (err: unknown) => err,
      )
      if (outcome === 'resumed') break
      expect(outcome).toBe(reason)
      expect(await stateOf(spec)).toBe('stopped')
    }
    const { endpoint } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
  })

  it('are completed when a dead process has left them started', async () => {
    const { spec, handle } = await startPaused('files')
    const container = bench.docker.getContainer(containerName(installation, spec))
    await parts.network.joinWhileStopped(container, await parts.network.ensure())
    await container.start()
    const { endpoint, restored } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(restored).toBe('files')
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
  })

  it('keep a process that counts: it continues from its number', async () => {
    const spec = sandboxSpec()
    const inside = new Inside(await runtime.create(spec))
    await inside.sh(`(${COUNTER}) > /dev/null 2>&1 &`)
    const read = async (): Promise<number> => Number((await inside.sh('cat /dev/shm/count')).stdout)
    await pollUntil({ what: 'the counter', timeoutMs: 20_000, everyMs: 10 }, async () => ((await read()) > 3 ? true : undefined))
    for (let round = 0; round < 5; round += 1) {
      const before = await read()
      const handle = await runtime.pause(spec, 'memory')
      await runtime.resume(handle, { spec, keep: 'memory' })
      const after = await read()
      expect(after).toBeGreaterThanOrEqual(before)
      await pollUntil({ what: 'the next number', timeoutMs: 20_000, everyMs: 10 }, async () => ((await read()) > after ? true : undefined))
    }
    await runtime.remove(spec)
  })

  it('stay frozen when a snapshot is taken at the same time, whichever comes first', async () => {
    for (let round = 0; round < 3; round += 1) {
      const spec = sandboxSpec()
      await runtime.create(spec)
      const take = () => runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      const pause = () => runtime.pause(spec, 'memory')
      const [snapshot] = round % 2 === 0 ? await Promise.all([take(), pause()]) : (await Promise.all([pause(), take()])).toReversed()
      expect(await stateOf(spec)).toBe('frozen')
      await runtime.remove(spec)
      await runtime.deleteSnapshot(snapshot as Awaited<ReturnType<typeof take>>)
    }
  })

  it.for<Keep>(['memory', 'files'])('are removed while a pause, a resume or a snapshot is in flight (%s)', async (keep) => {
    const { spec, handle } = await startPaused(keep)
    const settled = Promise.allSettled([
      runtime.resume(handle, { spec, keep: 'memory' }),
      runtime.pause(spec, keep),
      runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' }),
    ])
    await runtime.remove(spec)
    for (const outcome of await settled) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(AppError)
    }
    expect(await stateOf(spec)).toBeUndefined()
  })

  it('resume after their network was pruned', async () => {
    const { spec, handle } = await startPaused('files')
    const bridge = await parts.network.ensure()
    await bench.docker.getNetwork(bridge.id).remove()
    const { endpoint } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
  })

  it('leave no image and no container of their own', async () => {
    const filters = JSON.stringify({ label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=sandbox`] })
    expect(await bench.docker.listContainers({ all: true, filters })).toEqual([])
  })
})
