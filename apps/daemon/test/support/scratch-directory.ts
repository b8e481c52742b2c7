import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory that is removed when it is disposed of. */
export async function createScratchDirectory(parent = tmpdir()): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(parent, 'sandyard-daemon-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
