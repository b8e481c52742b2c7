import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface SharedLibraries {
  /** The dynamic loader that the executable names. */
  readonly loader: string
  readonly libraries: readonly string[]
}

/** The absolute paths of all libraries that the loader maps for these binaries on this machine. */
export async function listSharedLibraries(binaries: readonly string[]): Promise<SharedLibraries> {
  const lists = await Promise.all(binaries.map(async (binary) => (await promisify(execFile)('ldd', [binary])).stdout))
  const lines = lists.join('\n').split('\n')
  const libraries = new Set(lines.flatMap((line) => /=> (\/\S+) \(0x/.exec(line)?.[1] ?? []))
  const loader = lines.flatMap((line) => /^\s*(\/\S+) \(0x/.exec(line)?.[1] ?? [])[0]
  if (loader === undefined) throw new Error(`the dynamic loader of ${binaries.join(', ')} could not be found`)
  return { loader, libraries: [...libraries].filter((library) => library !== loader) }
}
