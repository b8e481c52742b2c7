import { AppError } from '@sandyard/kit/errors/app-error'
import { findablePath } from '../findable-path.ts'
import type { OriginalRequest } from '../sandbox-runtime.ts'
import type { OriginalFile, RuntimeCapabilities, RuntimeChange, RuntimeChanges } from '../types.ts'
import type { FakeSandbox } from './fake-engine.ts'

/** The size of the list is that of its paths. */
export function fakeChanges(
  { files, original }: FakeSandbox,
  maxBytes: number,
  capabilities: Pick<RuntimeCapabilities, 'changes'>,
): RuntimeChanges {
  assertListsChanges(capabilities)
  const paths = new Set([...files.keys(), ...original.keys()].filter((path) => files.get(path) !== original.get(path)).toSorted())
  const changes: RuntimeChange[] = []
  let bytes = 0
  for (const path of paths) {
    bytes += Buffer.byteLength(path)
    if (bytes > maxBytes) return { changes, isCut: true }
    changes.push({ path, kind: !original.has(path) ? 'added' : files.has(path) ? 'modified' : 'deleted' })
  }
  return { changes, isCut: false }
}

/** All paths are files. */
export function fakeOriginal(
  { original }: FakeSandbox,
  { path, maxBytes }: OriginalRequest,
  capabilities: Pick<RuntimeCapabilities, 'changes'>,
): OriginalFile {
  assertListsChanges(capabilities)
  const text = original.get(findablePath(path) ?? '')
  if (text === undefined) return { kind: 'absent' }
  const content = Buffer.from(text)
  return content.length > maxBytes ? { kind: 'large', sizeBytes: content.length } : { kind: 'file', content }
}

function assertListsChanges({ changes }: Pick<RuntimeCapabilities, 'changes'>): void {
  if (!changes) throw new AppError('unimplemented', 'This runtime does not list what has changed in a sandbox.')
}
