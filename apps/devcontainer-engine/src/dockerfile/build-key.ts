import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stage } from './plan-stages.ts'

export interface KeyParts {
  readonly dockerfile: string
  readonly target: Stage
  readonly buildArgs: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly context: string
  readonly idOf: (reference: string) => Promise<string>
}

/** Two builds with one key make the same image, as far as an engine with a cache of layers would say so. */
export async function buildKey({ dockerfile, target, buildArgs, labels, context, idOf }: KeyParts): Promise<string> {
  const stages = neededStages(target)
  const ids: Record<string, string> = {}
  for (const reference of stages.flatMap(imagesOf)) ids[reference] ??= await idOf(reference)
  const hash = createHash('sha256')
  hash.update(JSON.stringify([dockerfile, target.index, buildArgs, labels, Object.entries(ids)]))
  const readsContext = stages.some(({ instructions }) =>
    instructions.some(({ keyword, flags }) => keyword === 'COPY' && !flags.has('from')),
  )
  if (readsContext) await addTree(hash, context, '')
  return hash.digest('hex')
}

function neededStages(target: Stage, found: Stage[] = []): Stage[] {
  if (found.includes(target)) return found
  found.push(target)
  for (const other of [target.base, ...target.sources.values()]) if (other !== 'scratch' && 'index' in other) neededStages(other, found)
  return found
}

function imagesOf({ base, sources }: Stage): string[] {
  return [base, ...sources.values()].flatMap((one) => (one !== 'scratch' && 'image' in one ? [one.image] : []))
}

async function addTree(hash: Hash, folder: string, path: string): Promise<void> {
  for (const name of (await readdir(join(folder, path))).sort()) {
    const inside = join(path, name)
    const outside = join(folder, inside)
    const stats = await lstat(outside)
    const link = stats.isSymbolicLink() ? await readlink(outside) : ''
    hash.update(JSON.stringify([inside, stats.mode, stats.isFile() ? stats.size : 0, link]))
    if (stats.isDirectory()) await addTree(hash, folder, inside)
    else if (stats.isFile()) for await (const bytes of createReadStream(outside)) hash.update(bytes as Buffer)
  }
}
