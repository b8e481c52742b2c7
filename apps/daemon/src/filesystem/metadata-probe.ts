import { stat } from 'node:fs/promises'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { isRootLocal } from '../sys/cached-stat.ts'
import { loadXattrProbe } from '../sys/xattr.ts'

type Probe = (path: string | Buffer, device: bigint) => boolean
const loadRootProbe = loadOnce(createRootProbe)

/**
 * False if a path certainly has no attributes. Call it right after a stat of the path that followed links. Most files have none, and a
 * round trip to the thread pool takes longer than the rest of their description.
 */
export async function mayHaveAttributes(path: string | Buffer, device: bigint): Promise<boolean> {
  const probe = await loadRootProbe().catch(() => undefined)
  return probe === undefined || probe(path, device)
}

/**
 * The call is synchronous, which is safe only if it cannot block: on a local file system with the inode in memory. That is certain only
 * for the root file system, which is never unmounted; for all others the answer is true.
 */
async function createRootProbe(): Promise<Probe> {
  const [isLocal, { dev }, hasAttributes] = await Promise.all([isRootLocal(), stat('/', { bigint: true }), loadXattrProbe()])
  if (!isLocal) return () => true
  return (path, device) => device !== dev || hasAttributes(path)
}
