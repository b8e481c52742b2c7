import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxEndpoint, SandboxSpec } from '../types.ts'
import type { FakeEngine, FakeImage, FakeSandbox } from './fake-engine.ts'

export type FakeContents = Pick<FakeImage, 'files' | 'memory'>

export interface FakeStart {
  readonly installation: string
  readonly spec: SandboxSpec
  readonly contents: () => FakeContents
  readonly endpointOf: () => Promise<SandboxEndpoint>
  readonly signal: AbortSignal | undefined
}

/** Starts a sandbox, or returns the endpoint of the one that exists. @throws AppError `conflict` for one that has ended; the abort reason */
export async function startFake(
  engine: FakeEngine,
  { installation, spec, contents, endpointOf, signal }: FakeStart,
): Promise<SandboxEndpoint> {
  const found = engine.find(installation, spec)
  if (found?.state === 'stopped') throw new AppError('conflict', `Sandbox "${spec.sandboxId}" has ended.`)
  if (found !== undefined) return found.endpoint
  const { files, memory } = contents()
  const endpoint = await endpointOf()
  signal?.throwIfAborted()
  const raced = engine.find(installation, spec)
  if (raced !== undefined) return raced.endpoint
  engine.put({
    installation,
    spec,
    endpoint,
    files: new Map(files),
    original: files,
    memory: new Map(memory),
    startId: randomId(12),
    egress: spec.egress,
    state: 'running',
    createdAt: new Date(),
  })
  return endpoint
}

export interface FakePausedStart extends Pick<FakeStart, 'installation' | 'spec' | 'contents'> {
  /** Until it is resumed. */
  readonly endpoint: SandboxEndpoint
}

/** Puts a sandbox without processes on the engine, or returns the one that exists. @throws AppError `conflict` for one that runs */
export function createFakePaused(engine: FakeEngine, { installation, spec, contents, endpoint }: FakePausedStart): FakeSandbox {
  const found = engine.find(installation, spec)
  if (found !== undefined) {
    if (found.state !== 'stopped') throw new AppError('conflict', 'This sandbox runs already.')
    return found
  }
  const { files } = contents()
  const sandbox: FakeSandbox = {
    installation,
    spec,
    endpoint,
    files: new Map(files),
    original: files,
    memory: new Map(),
    startId: randomId(12),
    egress: spec.egress,
    state: 'stopped',
    createdAt: new Date(),
  }
  engine.put(sandbox)
  return sandbox
}
