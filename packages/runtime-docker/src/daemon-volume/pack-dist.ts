import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'

/**
 * Packs the files of a folder as a tar archive, owned by root, with an empty file `marker` as its last entry. If the
 * marker exists after the archive was unpacked, all other files exist too.
 */
export function packDist(dir: string, marker: string): Readable {
  const archive = pack()
  void addAll(archive, dir, marker).catch((err: unknown) => archive.destroy(err as Error))
  return Readable.from(archive)
}

async function addAll(archive: Pack, dir: string, marker: string): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const names = entries.map((entry) => relative(dir, join(entry.parentPath, entry.name))).sort()
  for (const name of names) if (name !== marker) await add(archive, dir, name)
  archive.entry({ name: marker, mode: 0o444 }, '')
  archive.finalize()
}

async function add(archive: Pack, dir: string, name: string): Promise<void> {
  const path = join(dir, name)
  const stat = await lstat(path)
  const header = { name, mtime: stat.mtime, uid: 0, gid: 0 }
  if (stat.isDirectory()) archive.entry({ ...header, type: 'directory', mode: 0o755 })
  else if (stat.isSymbolicLink()) archive.entry({ ...header, type: 'symlink', linkname: await readlink(path) })
  else
    await pipeline(createReadStream(path), archive.entry({ ...header, size: stat.size, mode: (stat.mode & 0o111) === 0 ? 0o444 : 0o555 }))
}
