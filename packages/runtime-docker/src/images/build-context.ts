import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'

export interface ContextFile {
  /** Relative to the context, with slashes. */
  readonly name: string
  readonly bytes: Buffer
}

/** All files of a build's folder, sorted by name, so that the same files always make the same hash and archive. */
export async function readContext(folder: URL): Promise<ContextFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const root = decodeURIComponent(folder.pathname)
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll(/\/+/g, '/').slice(root.length))
  return Promise.all(names.sort().map(async (name) => ({ name, bytes: await readFile(new URL(name, folder)) })))
}

/** Twelve hex digits over names and bytes. */
export function contextHash(files: readonly ContextFile[]): string {
  const hash = createHash('sha256')
  for (const { name, bytes } of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex').slice(0, 12)
}

export function packContext(files: readonly ContextFile[]): Readable {
  const archive = pack()
  for (const { name, bytes } of files) archive.entry({ name, mtime: new Date(0) }, bytes)
  archive.finalize()
  return Readable.from(archive)
}
