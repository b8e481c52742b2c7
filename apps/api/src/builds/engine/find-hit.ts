import { isAppError } from '@sandyard/kit/errors/app-error'
import type { BuildResult } from '../build-plan.ts'
import type { Attempt, Progress } from './attempt.ts'
import type { CachedLayer } from './layer-cache.ts'
import type { Layer } from './layer-plan.ts'

/** What former builds have made of this one. */
export interface Hit {
  /** How many of its layers. */
  readonly done: number
  readonly progress: Progress | undefined
  /** Set when it is all of them. */
  readonly build: BuildResult | undefined
}

/**
 * Finds the longest part of the plan that is there already, and starts the sandbox from it: from then on nobody can collect it. A
 * layer whose image has gone is forgotten, and counts as never made.
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
  // The phase of the default user changes no files: what is known of it comes with the base.
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
