import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface SharedLibraries {
  /** The dynamic loader that the executable asks for. */
  readonly loader: string
  readonly libraries: readonly string[]
}

/** Everything that the loader maps for these binaries on this machine, as absolute paths. */
export async function listSharedLibraries(binaries: readonly string[]): Promise<SharedLibraries> {
  const lists = await Promise.all(binaries.map(async (binary) => (await promisify(execFile)('ldd', [binary])).stdout))
  const lines = lists.join('\n').split('\n')
  const libraries = new Set(lines.flatMap((line) => /=> (\/\S+) \(0x/.exec(line)?.[1] ?? []))
  const loader = lines.flatMap((line) => /^\s*(\/\S+) \(0x/.exec(line)?.[1] ?? [])[0]
  if (loader === undefined) throw new Error(`the dynamic loader of ${binaries.join(', ')} could not be found`)
  return { loader, libraries: [...libraries].filter((library) => library !== loader) }
}
