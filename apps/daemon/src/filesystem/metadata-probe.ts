import { stat, statfs } from 'node:fs/promises'
import { loadXattrProbe } from '../sys/xattr.ts'

/** File systems that keep an inode's attributes with it, so that whoever has read one has the other (statfs(2)): ext, xfs, btrfs, tmpfs, overlay. */
const LOCAL_FILE_SYSTEMS = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630])

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
  const [{ type }, { dev }, hasAttributes] = await Promise.all([statfs('/'), stat('/', { bigint: true }), loadXattrProbe()])
  if (!LOCAL_FILE_SYSTEMS.has(type)) return () => true
  return (path, device) => device !== dev || hasAttributes(path)
}
