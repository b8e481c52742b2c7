import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import type { ContractHarness } from '../contract/contract-harness.ts'
import { describeRuntimeContract } from '../contract/runtime-contract.ts'
import type { ImageFacts } from '../image-store.ts'
import { DEFAULT_EGRESS, type RuntimeCapabilities, type SandboxEndpoint, type SandboxSpec } from '../types.ts'
import { FakeEngine } from './fake-engine.ts'
import { FakeRuntime } from './fake-runtime.ts'

const IMAGE = 'base'
const SPEC: SandboxSpec = {
  sandboxId: 'i1',
  incarnation: 1,
  image: IMAGE,
  resources: { cpuCount: 1, memoryMib: 256, diskMib: 512 },
  instanceKey: new Secret('key'),
  allowPrivilegeGain: true,
  mounts: [],
  egress: DEFAULT_EGRESS,
}

async function fakeHarness(capabilities: Partial<RuntimeCapabilities>): Promise<ContractHarness> {
  const engine = new FakeEngine()
  let port = 50_000
  const endpointOf = async (): Promise<SandboxEndpoint> => {
    await nextTurn()
    return { host: '127.0.0.1', daemonPort: port++ }
  }
  return {
    image: IMAGE,
    open: async (installation) => new FakeRuntime({ engine, installation, images: new Set([IMAGE]), endpointOf, capabilities }),
    inside: (installation, ref) => ({
      writeFile: async (path, text) => void engine.find(installation, ref)?.files.set(path, text),
      readFile: async (path) => engine.find(installation, ref)?.files.get(path),
      instanceFile: async () => secretDigest(engine.find(installation, ref)?.spec.instanceKey.reveal() ?? ''),
      remember: async (text) => void engine.find(installation, ref)?.memory.set('text', text),
      recall: async () => engine.find(installation, ref)?.memory.get('text'),
      end: async () => engine.exit(installation, ref),
    }),
    loseMemory: async (installation, ref) => engine.exit(installation, ref),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

describeRuntimeContract('fake', () => fakeHarness({}))
describeRuntimeContract(
  'fake with volumes, without egress policies, and pauses with files only',
  () => fakeHarness({ pause: 'files', mounts: true, egressPolicies: false, changes: false }),
  ['files'],
)

it('ends the event stream of a slow reader when ten thousand sandboxes end at once', async () => {
  await using runtime = new FakeRuntime()
  const specs = Array.from({ length: 10_000 }, (_, index) => ({ ...SPEC, sandboxId: `i${index}` }))
  for (const spec of specs) await runtime.create(spec)
  const events = await runtime.events(new AbortController().signal)
  for (const spec of specs) runtime.engine.exit('fake', spec)
  expect(await Array.fromAsync(events)).toEqual([])
  const states = new Set((await runtime.list()).map(({ state }) => state))
  expect(states).toEqual(new Set(['stopped']))
})

describe('the faults of the fake runtime', () => {
  const spec = SPEC
  const fault = new AppError('internal', 'scripted')

  it.for(['failBefore', 'failAfter'] as const)('%s: the create fails once and leaves nothing behind', async (fail) => {
    await using runtime = new FakeRuntime()
    runtime.faults[fail]('create', fault)
    await expect(runtime.create(spec)).rejects.toBe(fault)
    expect(await runtime.list()).toEqual([])
    await runtime.create(spec)
    expect(runtime.faults.calls).toEqual(['create', 'list', 'create'])
  })

  it.for(['failBefore', 'failAfter'] as const)('%s: the resume fails once and leaves the sandbox paused', async (fail) => {
    await using runtime = new FakeRuntime()
    await runtime.create(spec)
    for (const [keep, state] of [
      ['memory', 'frozen'],
      ['files', 'stopped'],
    ] as const) {
      const handle = await runtime.pause(spec, keep)
      runtime.faults[fail]('resume', fault)
      await expect(runtime.resume(handle, { spec, keep: 'memory' })).rejects.toBe(fault)
      expect(await runtime.list()).toMatchObject([{ state }])
      expect(await runtime.resume(handle, { spec, keep: 'memory' })).toMatchObject({ restored: keep })
    }
  })

  it('failAfter does the work and then fails', async () => {
    await using runtime = new FakeRuntime()
    await runtime.create(spec)
    runtime.faults.failAfter('remove', fault)
    await expect(runtime.remove(spec)).rejects.toBe(fault)
    expect(await runtime.list()).toEqual([])
  })

  it('holds a call until it is released or aborted', async () => {
    await using runtime = new FakeRuntime()
    const first = runtime.faults.hold('create')
    const created = runtime.create(spec)
    await first.reached
    expect(await runtime.list()).toEqual([])
    first.release()
    await created

    const abort = new AbortController()
    const second = runtime.faults.hold('create')
    const aborted = runtime.create({ ...spec, incarnation: 2 }, abort.signal)
    await second.reached
    abort.abort(fault)
    await expect(aborted).rejects.toBe(fault)
    expect(await runtime.list()).toHaveLength(1)
  })

  it('makes image calls fail before and after their work, and returns the facts that the test set', async () => {
    const imageFacts = (source: string): Partial<ImageFacts> => (source === 'private' ? { env: { A: 'b' }, user: 'app' } : {})
    await using runtime = new FakeRuntime({ imageFacts })
    const pull = { reference: 'private', credentials: { type: 'registry', username: 'u', password: 'p' } } as const
    runtime.faults.failBefore('images.pull', fault)
    await expect(runtime.images.pull(pull)).rejects.toBe(fault)
    expect(await runtime.images.list()).toEqual([])
    runtime.faults.failAfter('images.pull', fault)
    await expect(runtime.images.pull(pull)).rejects.toBe(fault)
    expect(await runtime.images.list()).toHaveLength(1)
    const { image } = await runtime.images.pull(pull)
    expect(await runtime.images.inspect(image)).toMatchObject({ env: { A: 'b' }, user: 'app', workdir: undefined })
    runtime.faults.failAfter('images.remove', fault)
    await expect(runtime.images.remove(image)).rejects.toBe(fault)
    await expect(runtime.images.inspect(image)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('ends sandboxes and event streams with the engine', async () => {
    await using runtime = new FakeRuntime()
    await runtime.create(spec)
    const events = await runtime.events(new AbortController().signal)
    runtime.engine.stop()
    for await (const event of events) expect.unreachable(event.kind)
    await expect(runtime.list()).rejects.toMatchObject({ kind: 'unavailable' })
    runtime.engine.start()
    expect(await runtime.list()).toMatchObject([{ state: 'stopped' }])
  })

  it('loses the memory of paused sandboxes with the engine, and resumes them from their files', async () => {
    await using runtime = new FakeRuntime()
    await runtime.create(spec)
    const handle = await runtime.pause(spec, 'memory')
    runtime.engine.stop()
    runtime.engine.start()
    expect(await runtime.pause(spec, 'files')).toMatchObject({ keep: 'files' })
    expect(await runtime.resume(handle, { spec, keep: 'memory' })).toMatchObject({ restored: 'files' })
  })

  it('keeps the egress policy of a sandbox over a pause', async () => {
    await using runtime = new FakeRuntime()
    const closed = { ...DEFAULT_EGRESS, allowInternet: false, allowOut: ['203.0.113.7'] }
    await runtime.create(spec)
    await runtime.setEgress(spec, closed)
    await runtime.resume(await runtime.pause(spec, 'files'), { spec, keep: 'memory' })
    expect(runtime.engine.find('fake', spec)?.egress).toEqual(closed)
  })
})
