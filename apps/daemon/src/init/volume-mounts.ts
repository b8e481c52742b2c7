import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/** A volume that must be mounted (envd.md 5.5). */
export interface VolumeMount {
  readonly nfsTarget: string
  readonly path: string
}

/**
 * Checks that every path is a mount point. A container gets its volumes when it is created and may not mount any itself.
 *
 * @param mountInfo `/proc/self/mountinfo`
 * @throws an error whose message names the first that is not
 */
export async function checkVolumeMounts(mounts: readonly VolumeMount[], mountInfo: string): Promise<void> {
  const mounted = mountPoints(await readFile(mountInfo, 'utf8'))
  for (const { path } of mounts) {
    const isMounted = path !== '' && mounted.has(resolve('/', path))
    if (!isMounted) throw new Error(`failed to mount NFS at ${JSON.stringify(path)}: volumes are mounted when the sandbox is created`)
  }
}

/** The fifth field of each line; the kernel writes spaces, tabs, line ends and backslashes in octal. */
function mountPoints(mountInfo: string): ReadonlySet<string> {
  const fields = mountInfo.split('\n').map((line) => line.split(' ')[4])
  return new Set(fields.flatMap((field) => (field === undefined ? [] : [unescapeOctal(field)])))
}

function unescapeOctal(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
