import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { inOwnNamespaces } from '@sandyard/test-kit/own-namespaces'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PauseHandle, SandboxSpec } from '@sandyard/runtime/types'
import { containerSpec } from '../src/containers/container-spec.ts'
import { replaceStuck, stuckName } from '../src/containers/stuck-container.ts'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { containerName } from '../src/labels.ts'
import { openParts, type RuntimeParts } from '../src/runtime-parts.ts'
import { collectLeftovers } from '../src/upkeep/collect-leftovers.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import type { InterruptedStart } from './support/interrupt-start.ts'
import { secondEngineIsAbsent } from './support/second-engine.ts'

const PROGRAM = fileURLToPath(import.meta.resolve('./support/interrupt-start.ts'))
const TIMEOUT_MS = 240_000

it(
  'a paused sandbox resumes with its files after its engine was killed in the middle of starts and refuses every further one',
  { timeout: TIMEOUT_MS + 10_000 },
  ({ skip }) => {
    const reason = secondEngineIsAbsent()
    skip(reason !== undefined, reason)
    const [program, ...args] = inOwnNamespaces([process.execPath, PROGRAM])
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: TIMEOUT_MS })
    expect(stdout, stderr).not.toBe('')
    const results = JSON.parse(stdout) as InterruptedStart[]
    for (const { refusal } of results) expect(refusal).toMatch(/task id: already exists|id already in use/)
    const resumed = { restored: 'files', status: 'running', containers: 1 }
    expect(results).toMatchObject([
      { ...resumed, files: ['first'], images: ['sandyard/removed'] },
      { ...resumed, files: ['first', 'second'] },
    ])
  },
)

describe('a replacement of a container that does not start any more', () => {
  const stack = new AsyncDisposableStack()
  let runtime: DockerRuntime
  let parts: RuntimeParts

  beforeAll(async () => {
    const bench = stack.use(await EngineBench.open())
    const options = bench.options()
    runtime = await bench.runtime(options)
    parts = await openParts(options)
    stack.defer(() => parts.egress?.[Symbol.asyncDispose]())
  })
  afterAll(() => stack.disposeAsync())

  async function startPaused(): Promise<{ spec: SandboxSpec; handle: PauseHandle; name: string }> {
    const spec = sandboxSpec()
    await new Inside(await runtime.create(spec)).writeFile('/root/kept', 'yes')
    return { spec, handle: await runtime.pause(spec, 'files'), name: containerName(parts.installation, spec) }
  }

  const replace = (spec: SandboxSpec, name: string) =>
    replaceStuck(parts.docker, name, { installation: parts.installation, optionsFor: (image) => containerSpec(parts.plan(), spec, image) })

  const exists = (name: string): Promise<boolean> =>
    parts.docker
      .getContainer(name)
      .inspect()
      .then(() => true)
      .catch(() => false)

  it('keeps the files, also those of a snapshot that is taken before the resume, and leaves no image', { timeout: 120_000 }, async () => {
    const { spec, handle, name } = await startPaused()
    await replace(spec, name)
    const snapshot = await runtime.snapshot(spec, { name: `${name}-1`, keep: 'files' })
    const { endpoint, restored } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(restored).toBe('files')
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    const copy = sandboxSpec()
    expect(await new Inside(await runtime.createFrom(snapshot, copy)).readFile('/root/kept')).toBe('yes')
    for (const each of [spec, copy]) await runtime.remove(each)
    await runtime.deleteSnapshot(snapshot)
    await parts.kept.sweep()
    const filters = JSON.stringify({ label: [`sandyard.installation=${parts.installation}`] })
    expect(await parts.docker.listImages({ filters })).toEqual([])
  })

  it('that was interrupted before the new container leaves a sandbox that resumes', { timeout: 120_000 }, async () => {
    const { spec, handle, name } = await startPaused()
    await parts.docker.getContainer(name).rename({ name: stuckName(name) })
    expect(await runtime.list(spec.sandboxId)).toMatchObject([{ state: 'stopped' }])
    await collectLeftovers({ ...parts, volumeName: parts.volume.name })
    const { endpoint } = await runtime.resume(handle, { spec, keep: 'memory' })
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    await runtime.remove(spec)
    expect(await runtime.list(spec.sandboxId)).toEqual([])
  })

  it(
    'that was interrupted after the new container leaves one sandbox, and a kill or the upkeep removes both',
    { timeout: 120_000 },
    async () => {
      for (const way of ['kill', 'upkeep']) {
        const { spec, handle, name } = await startPaused()
        await replace(spec, name)
        // The container that was removed, as it was before.
        const { Config, Image, HostConfig } = await parts.docker.getContainer(name).inspect()
        await parts.docker.createContainer({ ...Config, Image, HostConfig, name: stuckName(name) })
        expect(await runtime.list(spec.sandboxId)).toHaveLength(1)
        const { endpoint } = await runtime.resume(handle, { spec, keep: 'memory' })
        expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
        if (way === 'upkeep') {
          await collectLeftovers({ ...parts, volumeName: parts.volume.name })
          expect([await exists(name), await exists(stuckName(name))]).toEqual([true, false])
        }
        await runtime.remove(spec)
        expect([await exists(name), await exists(stuckName(name))]).toEqual([false, false])
      }
    },
  )
})
