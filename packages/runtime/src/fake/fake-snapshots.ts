import { AppError } from '@sandyard/kit/errors/app-error'
import type { Origin } from '../origin.ts'
import type { SnapshotRequest } from '../sandbox-runtime.ts'
import { checkSnapshotName } from '../snapshot-name.ts'
import type { RuntimeCapabilities, RuntimeSnapshot } from '../types.ts'
import type { FakeEngine, FakeSandbox } from './fake-engine.ts'
import type { FakeImageStore } from './fake-image-store.ts'

export interface FakeSnapshotParts {
  readonly images: FakeImageStore
  readonly kept: FakeEngine['images']
  readonly origin: Origin
  readonly capabilities: RuntimeCapabilities
}

/** Keeps the files of a sandbox as an image, and its memory if asked. A name that exists already is answered with its snapshot. */
export function snapshotFake(
  { images, kept, origin, capabilities }: FakeSnapshotParts,
  { name, keep }: SnapshotRequest,
  get: () => FakeSandbox,
): RuntimeSnapshot {
  checkSnapshotName(name)
  if (keep === 'memory' && capabilities.snapshot !== 'memory')
    throw new AppError('unimplemented', 'This runtime keeps no memory in a snapshot.')
  const image = images.nameOf(name)
  const existing = kept.get(image)
  if (existing?.snapshot !== undefined) return existing.snapshot
  const { files, memory, spec } = get()
  const { resources, allowPrivilegeGain, mounts } = spec
  const sizeBytes = [...files].reduce((sum, [path, text]) => sum + path.length + text.length, 0)
  const snapshot = { ...origin, image, hasMemory: keep === 'memory', sizeBytes, spec: { resources, allowPrivilegeGain, mounts } }
  const facts = images.factsOf(spec.image)
  images.keep(image, { files: new Map(files), facts, ...(keep === 'memory' && { memory: new Map(memory) }), snapshot })
  return snapshot
}
