import { posix } from 'node:path'

const TREES = ['/proc', '/sys', '/dev']
const SHARED_MEMORY = '/dev/shm'

/** What is said where a working directory of this kind is refused. */
export const NO_KERNEL_DIRECTORY = 'a working directory cannot be in /proc, /sys or /dev'

/**
 * Whether a path is in a tree of the kernel. As a working directory `/proc/self/fd/<n>`, `/dev/fd/<n>` and their like are, with an old OCI
 * runtime, a directory of the host (CVE-2024-21626). No image needs a working directory there, except in shared memory.
 */
export function isKernelDirectory(path: string): boolean {
  // Two slashes at the beginning would stay.
  const whole = posix.resolve('/', path).replace(/^\/+/, '/')
  if (isBelow(SHARED_MEMORY, whole)) return false
  return TREES.some((tree) => isBelow(tree, whole))
}

function isBelow(tree: string, path: string): boolean {
  return path === tree || path.startsWith(`${tree}/`)
}
