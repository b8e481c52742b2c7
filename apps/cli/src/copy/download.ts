import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type EntryInfo, FileType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { CliParts } from '../cli-parts.ts'
import { daemonFailure } from '../daemon/daemon-failure.ts'
import type { Daemon } from '../daemon/open-daemon.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import type { Copied } from './copied.ts'
import { readFile } from './daemon-files.ts'
import { lastName, namesBelow } from './sandbox-path.ts'

const MODE_BITS = 0o777
/** More entries than a copy by hand has; the list comes from an untrusted sandbox. */
const MAX_ENTRIES = 1_000_000

/**
 * Copies a file, or a directory with all below it, out of a sandbox. Links are left out. A file gets its name when it is complete.
 *
 * @throws CliFailure
 */
export async function download(parts: CliParts, daemon: Daemon, { from, to }: { from: string; to: string }): Promise<Copied> {
  const entry = await statOf(daemon, from)
  const target = await targetOf(resolve(parts.cwd, to), lastName(entry.path, daemon.sandboxID))
  const copied: Copied = { files: 0, skipped: [] }
  if (entry.type !== FileType.DIRECTORY) {
    await copyFile(parts, daemon, { path: entry.path, target, mode: entry.mode })
    copied.files = 1
    return copied
  }
  await mkdir(target, { recursive: true })
  let left = MAX_ENTRIES
  for (const folders = [entry.path]; ;) {
    const folder = folders.pop()
    if (folder === undefined) return copied
    parts.signal.throwIfAborted()
    for (const item of await list(daemon, folder)) {
      if ((left -= 1) < 0) throw new CliFailure(EXIT.failed, `${from} has more than ${MAX_ENTRIES} entries.`)
      const place = join(target, ...namesBelow(entry.path, item.path))
      if (item.isSymlink) copied.skipped.push(item.path)
      else if (item.type === FileType.DIRECTORY) {
        await mkdir(place, { recursive: true })
        folders.push(item.path)
      } else if (item.type === FileType.FILE) {
        await copyFile(parts, daemon, { path: item.path, target: place, mode: item.mode })
        copied.files += 1
      } else copied.skipped.push(item.path)
    }
  }
}

/** As `cp` does: into a directory that exists, else under the name that was given. */
async function targetOf(to: string, name: string): Promise<string> {
  const facts = await stat(to).catch(() => undefined)
  return facts?.isDirectory() === true ? join(to, name) : to
}

async function copyFile(
  { signal }: CliParts,
  daemon: Daemon,
  { path, target, mode }: { readonly path: string; readonly target: string; readonly mode: number },
): Promise<void> {
  const content = await readFile(daemon, path, signal)
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString('hex')}`)
  try {
    await pipeline(content, createWriteStream(draft, { flags: 'wx' }), { signal })
    await chmod(draft, mode & MODE_BITS & ~process.umask())
    await rename(draft, target)
  } catch (err) {
    await rm(draft, { force: true })
    throw err
  }
}

async function statOf({ filesystem }: Daemon, path: string): Promise<EntryInfo> {
  try {
    const { entry } = await filesystem.stat({ path })
    if (entry !== undefined) return entry
  } catch (err) {
    throw daemonFailure(err)
  }
  throw new CliFailure(EXIT.notFound, `There is no ${path}.`)
}

async function list({ filesystem }: Daemon, path: string): Promise<EntryInfo[]> {
  try {
    return (await filesystem.listDir({ path, depth: 1 })).entries
  } catch (err) {
    throw daemonFailure(err)
  }
}
