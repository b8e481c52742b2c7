/**
 * Reasons to skip a test: what this machine lacks and no package can install (tools/gate/counts.ts accepts reasons with this prefix).
 * Undefined where the machine has it.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const isRoot = process.getuid?.() === 0

/** Needed to change the identity of processes. */
export const noRoot = isRoot ? undefined : 'absent here: root'

/** Needed to mount a file system that hangs. */
export const noHangingMount = isRoot && existsSync('/dev/fuse') ? undefined : 'absent here: /dev/fuse and root'

/** The result of a failed mount. */
export const NO_MOUNT = 'absent here: the right to mount file systems'

/** Needed for limits of one daemon. In a chroot, and in most containers, the kernel refuses user namespaces. */
export async function findUserNamespaces(): Promise<string | undefined> {
  return promisify(execFile)('/usr/bin/unshare', ['-Ur', '/bin/true']).then(
    () => undefined,
    () => 'absent here: user namespaces',
  )
}
