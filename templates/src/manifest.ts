import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the server knows of a ready-made template without building it: `manifest.json` of its folder (templates/README.md). */
export interface Manifest {
  readonly name: string
  /** The folder with `template.ts`. */
  readonly folder: string
  readonly description: string
  /** Grows with every change of the folder. */
  readonly version: number
  readonly cpuCount: number
  readonly memoryMib: number
  readonly minDiskMib: number | undefined
}

/** The folder with the ready-made templates of this release. */
export const READY_MADE_FOLDER = join(import.meta.dirname, '..')

const FILE = 'manifest.json'
const NAME = /^[a-z0-9_-]{1,100}$/

/**
 * Reads the manifests of all templates in a folder, sorted by name. A folder without `manifest.json` is no template.
 *
 * @throws Error that names the file, for one that is not as templates/README.md says
 */
export async function readManifests(root: string): Promise<Manifest[]> {
  const entries = await readdir(root, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map(({ name }) => name)
  const found = await Promise.all(folders.sort().map((name) => readManifest(root, name)))
  return found.filter((manifest) => manifest !== undefined)
}

/**
 * The manifest of one template; undefined when there is none of this name, whatever the name is.
 *
 * @throws Error like `readManifests`
 */
export async function readManifest(root: string, name: string): Promise<Manifest | undefined> {
  if (!NAME.test(name)) return undefined
  const folder = join(root, name)
  const file = join(folder, FILE)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
  const { description, version, cpuCount, memoryMB, minFreeDiskMb } = JSON.parse(text) as Record<string, unknown>
  const isValid =
    typeof description === 'string' &&
    isWhole(version, 1) &&
    isWhole(cpuCount, 1) &&
    isWhole(memoryMB, 128) &&
    (minFreeDiskMb === undefined || isWhole(minFreeDiskMb, 1))
  if (!isValid) throw new Error(`${file} is not as templates/README.md says`)
  return { name, folder, description, version, cpuCount, memoryMib: memoryMB, minDiskMib: minFreeDiskMb }
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least
}
