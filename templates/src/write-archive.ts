import { createWriteStream } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'

/** Archives are the same on every machine. */
const MODIFIED_AT = new Date(0)

/**
 * Writes the archive of a COPY step: the files below `source`, with names relative to the context (clients.md 2.9).
 *
 * @param source - relative to the context; a file or a folder
 */
export async function writeArchive(file: string, context: string, source: string): Promise<void> {
  const archive = pack()
  const writing = pipeline(archive, createWriteStream(file))
  await Promise.all([writing, addAll(archive, context, posix.normalize(source))])
}

async function addAll(archive: Pack, context: string, source: string): Promise<void> {
  try {
    await add(archive, context, source.replace(/\/+$/, ''))
    archive.finalize()
  } catch (err) {
    archive.destroy(err as Error)
    throw err
  }
}

async function add(archive: Pack, context: string, name: string): Promise<void> {
  const path = join(context, name)
  const stats = await lstat(path)
  const header = { name, mode: stats.mode & 0o7777, mtime: MODIFIED_AT, uid: 0, gid: 0 }
  if (stats.isSymbolicLink()) {
    archive.entry({ ...header, type: 'symlink', linkname: await readlink(path) })
  } else if (stats.isDirectory()) {
    if (name !== '.') archive.entry({ ...header, type: 'directory' })
    for (const child of (await readdir(path)).sort()) await add(archive, context, posix.join(name, child))
  } else {
    await using handle = await open(path)
    const entry = archive.entry({ ...header, type: 'file', size: stats.size })
    await pipeline(handle.createReadStream({ autoClose: false }), entry)
  }
}
