import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory that is removed when it is disposed of, also while a daemon that is ending still writes into it. */
export async function createScratchDirectory(parent = tmpdir()): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(parent, 'sandyard-daemon-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10 }) }
}
