import { stat } from 'node:fs/promises'
import { isRootLocal } from '../sys/root-file-system.ts'
import { loadXattrProbe } from '../sys/xattr.ts'

type Probe = (path: string | Buffer, device: bigint) => boolean
let rootProbe: Promise<Probe> | undefined

/**
 * False for a path that surely has no attributes. The inode must just have been read by a stat of the path, links followed. Most
 * files have none, and to hear so from the thread pool would take longer than all the rest of their description.
 */
export async function mayHaveAttributes(path: string | Buffer, device: bigint): Promise<boolean> {
  rootProbe ??= createRootProbe().catch(() => () => true)
  return (await rootProbe)(path, device)
}

/**
 * The call is made on the event loop's own thread, which is right only where it cannot wait: on a local file system whose inode is
 * in memory already. That is known of the root's, the one that is never unmounted; of all others a yes is assumed.
 */
async function createRootProbe(): Promise<Probe> {
  const [isLocal, { dev }, hasAttributes] = await Promise.all([isRootLocal(), stat('/', { bigint: true }), loadXattrProbe()])
  if (!isLocal) return () => true
  return (path, device) => device !== dev || hasAttributes(path)
}
