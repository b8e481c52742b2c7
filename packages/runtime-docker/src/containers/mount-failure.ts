import { MountPathError } from '@sandyard/runtime/mount-path-error'
import type { SandboxMount } from '@sandyard/runtime/types'

/** The messages of runc; the second one for a mount onto a file that runc itself reads. */
const REFUSED = [
  /error mounting ".*?" to rootfs at "(?<path>.*?)": .*(?:not a directory|cannot be mounted because it is inside \/proc)/s,
  / (?<path>\/\S*): is a directory/,
]

/** The reason why a container did not start, if it is the path of one of its mounts. */
export function findMountFailure(err: unknown, mounts: readonly SandboxMount[]): MountPathError | undefined {
  const text = err instanceof Error ? err.message : ''
  const paths = REFUSED.map((pattern) => pattern.exec(text)?.groups?.['path'])
  const mount = mounts.find(({ path }) => paths.includes(path))
  return mount && new MountPathError(mount.path, err)
}
