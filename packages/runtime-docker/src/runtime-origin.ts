import { loadOnce } from '@sandyard/kit/async/load-once'
import type { Origin } from '@sandyard/runtime/origin'
import type Docker from 'dockerode'
import { engineId } from './engine/engine-id.ts'

export const RUNTIME_NAME = 'docker'

/** The version of the formats of handles and snapshots. */
const FORMAT = 1
const ENGINE_ID_TIMEOUT_MS = 30_000

/** What handles and snapshots of this runtime say of their origin. */
export function originOf(docker: Docker): () => Promise<Origin> {
  return loadOnce(async () => {
    const engine = await engineId(docker, AbortSignal.timeout(ENGINE_ID_TIMEOUT_MS))
    return { runtime: RUNTIME_NAME, version: FORMAT, engine }
  })
}
