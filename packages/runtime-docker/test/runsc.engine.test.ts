import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_EGRESS, type EgressPolicy, type SandboxSpec } from '@sandyard/runtime/types'
import { connectEngine } from '../src/engine/connect-engine.ts'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { ENGINE, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { openOutsideBench } from './support/outside-bench.ts'
import { OUTSIDE, type Bystander } from './support/outside-world.ts'

const RUNTIME = 'runsc'
const REFUSED = 'ECONNREFUSED'
const { Runtimes } = (await (await connectEngine(ENGINE)).info()) as { Runtimes: Record<string, unknown> }
const absent = RUNTIME in Runtimes ? undefined : 'absent here: the runtime runsc (tools/runsc builds it)'

describe('sandboxes on gVisor', () => {
  const stack = new AsyncDisposableStack()
  let runtime: DockerRuntime
  let image: string
  let witness: Bystander

  beforeAll(async () => {
    if (absent !== undefined) return
    ;({ runtime, image, witness } = await openOutsideBench(stack, { ociRuntime: RUNTIME }))
  })
  afterAll(() => stack.disposeAsync())

  async function start(egress: EgressPolicy): Promise<{ spec: SandboxSpec; inside: Inside }> {
    const spec = sandboxSpec({ image, egress, resources: { cpuCount: 1, memoryMib: 512, diskMib: 512 } })
    return { spec, inside: new Inside(await runtime.create(spec)) }
  }

  it('have a kernel of their own, and the same default egress', async (context) => {
    if (absent !== undefined) context.skip(absent)
    const { spec, inside } = await start(DEFAULT_EGRESS)
    expect((await inside.sh('dmesg')).stdout).toContain('gVisor')
    for (const host of [OUTSIDE.metadata, OUTSIDE.private, OUTSIDE.sharedSpace]) {
      expect(await witness.inside.dial(host, OUTSIDE.port), 'without rules').toBe('open')
      expect(await inside.dial(host, OUTSIDE.port)).toBe(REFUSED)
    }
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    await runtime.remove(spec)
  })

  it('obey a policy and its changes', async (context) => {
    if (absent !== undefined) context.skip(absent)
    const { spec, inside } = await start({ ...DEFAULT_EGRESS, allowInternet: false })
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe(REFUSED)
    await runtime.setEgress(spec, { ...DEFAULT_EGRESS, allowInternet: false, allowOut: [OUTSIDE.public] })
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe('open')
    await runtime.setEgress(spec, { ...DEFAULT_EGRESS, denyOut: ['198.51.100.0/24'] })
    expect(await inside.dial(OUTSIDE.public, OUTSIDE.port)).toBe(REFUSED)
    await runtime.remove(spec)
  })

  it('keep their memory, their files and their policy over pauses, and their files in a snapshot', async (context) => {
    if (absent !== undefined) context.skip(absent)
    const { spec, inside } = await start({ ...DEFAULT_EGRESS, denyOut: [OUTSIDE.public] })
    await inside.remember('in memory')
    await inside.writeFile('/root/kept', 'yes')
    const kept = await runtime.resume(await runtime.pause(spec, 'memory'), { spec, keep: 'memory' })
    expect(await new Inside(kept.endpoint).recall()).toBe('in memory')
    const { endpoint, restored } = await runtime.resume(await runtime.pause(spec, 'files'), { spec, keep: 'files' })
    expect(restored).toBe('files')
    expect(await new Inside(endpoint).readFile('/root/kept')).toBe('yes')
    expect(await new Inside(endpoint).dial(OUTSIDE.public, OUTSIDE.port)).toBe(REFUSED)
    const snapshot = await runtime.snapshot(spec, { name: 'gvisor', keep: 'files' })
    const copy = sandboxSpec({ image, resources: spec.resources })
    expect(await new Inside(await runtime.createFrom(snapshot, copy)).readFile('/root/kept')).toBe('yes')
    for (const each of [spec, copy]) await runtime.remove(each)
  })
})
