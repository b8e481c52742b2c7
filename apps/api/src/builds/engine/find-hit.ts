import { isAppError } from '@sandyard/kit/errors/app-error'
import type { BuildResult } from '../build-plan.ts'
import type { Attempt, Progress } from './attempt.ts'
import type { CachedLayer } from './layer-cache.ts'
import type { Layer } from './layer-plan.ts'

/** The cached part of a build. */
export interface Hit {
  /** How many of its layers are cached. */
  readonly done: number
  readonly progress: Progress | undefined
  /** Set when all layers are cached. */
  readonly build: BuildResult | undefined
}

/**
 * Finds the longest cached prefix of the plan and starts the sandbox from it, which protects the image from upkeep. Deletes the cache row
 * of a layer whose image no longer exists.
 */
export async function findHit({ cache, parts, sandbox }: Attempt, layers: readonly Layer[]): Promise<Hit | undefined> {
  const cacheable = layers.filter(({ isCacheable }) => isCacheable)
  const found = await cache.find(cacheable.map(({ key }) => key))
  for (let at = cacheable.length - 1; at >= 0; at -= 1) {
    const layer = found.get(cacheable[at]?.key ?? '')
    if (layer === undefined) continue
    const { image, result } = layer
    const isWhole = 'build' in result
    if (isWhole ? await parts.runtime.imageExists(image) : await isStarted(sandbox.start(image))) return toHit(layers, at, layer)
    await cache.forget(layer)
  }
  return undefined
}

function toHit(layers: readonly Layer[], at: number, { image, result }: CachedLayer): Hit {
  if ('build' in result) return { done: at + 1, progress: undefined, build: result.build }
  // The default user changes no files, so the cached base already contains this phase.
  const done = layers[at + 1]?.work.kind === 'default-user' ? at + 2 : at + 1
  return { done, progress: { image, context: result.context, isAhead: false }, build: undefined }
}

async function isStarted(starting: Promise<unknown>): Promise<boolean> {
  try {
    await starting
    return true
  } catch (err) {
    if (isAppError(err, 'not_found')) return false
    throw err
  }
}
