import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Code, ConnectError } from '@connectrpc/connect'
import { FileType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { CliParts } from '../cli-parts.ts'
import { daemonFailure } from '../daemon/daemon-failure.ts'
import { followProcess } from '../daemon/follow-process.ts'
import type { Daemon } from '../daemon/open-daemon.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { writeFile } from './daemon-files.ts'
import type { Copied } from './copied.ts'

/** One call of `chmod`; far below the kernel's limit for arguments. */
const PATHS_AT_ONCE = 200
const EXECUTABLE_BITS = 0o111
const MODE_BITS = 0o777

/** Copies a file, or a directory with all below it, into a sandbox. Links to files are copied as files; other special files are left out. */
export async function upload(parts: CliParts, daemon: Daemon, { from, to }: { from: string; to: string }): Promise<Copied> {
  const source = resolve(parts.cwd, from)
  const facts = await stat(source).catch((cause: unknown) => {
    throw new CliFailure(EXIT.notFound, `${from} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, { cause })
  })
  const target = await targetOf(daemon, to, basename(source))
  const copied: Copied = { files: 0, skipped: [] }
  const executables: string[] = []
  const copyFile = async (file: string, path: string, mode: number): Promise<void> => {
    parts.signal.throwIfAborted()
    const written = await writeFile(daemon, path, createReadStream(file), parts.signal)
    copied.files += 1
    if ((mode & EXECUTABLE_BITS) !== 0) executables.push(`${(mode & MODE_BITS).toString(8)} ${written}`)
  }
  const copyFolder = async (folder: string, path: string): Promise<void> => {
    await makeDir(daemon, path)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const place = join(folder, entry.name)
      if (entry.isDirectory()) await copyFolder(place, `${path}/${entry.name}`)
      else if (await isFile(entry, place)) await copyFile(place, `${path}/${entry.name}`, (await stat(place)).mode)
      else copied.skipped.push(place)
    }
  }
  if (facts.isDirectory()) await copyFolder(source, target)
  else await copyFile(source, target, facts.mode)
  await makeExecutable(parts, daemon, executables)
  return copied
}

async function isFile(entry: Dirent, path: string): Promise<boolean> {
  if (entry.isFile()) return true
  return entry.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isFile() === true
}

/** As `cp` does: into a directory that exists, else under the name that was given. */
async function targetOf(daemon: Daemon, to: string, name: string): Promise<string> {
  try {
    const { entry } = await daemon.filesystem.stat({ path: to })
    const path = entry?.path ?? to
    return entry?.type === FileType.DIRECTORY ? `${path.replace(/\/+$/, '')}/${name}` : path
  } catch (err) {
    if (err instanceof ConnectError && err.code === Code.NotFound) return to.endsWith('/') ? `${to}${name}` : to
    throw daemonFailure(err)
  }
}

async function makeDir({ filesystem }: Daemon, path: string): Promise<void> {
  try {
    await filesystem.makeDir({ path })
  } catch (err) {
    if (err instanceof ConnectError && err.code === Code.AlreadyExists) return
    throw daemonFailure(err)
  }
}

/** The daemon writes files without a mode, so `chmod` of the sandbox makes programs of them. */
async function makeExecutable(parts: CliParts, daemon: Daemon, modesAndPaths: readonly string[]): Promise<void> {
  const byMode = Map.groupBy(modesAndPaths, (text) => text.slice(0, text.indexOf(' ')))
  for (const [mode, texts] of byMode) {
    const paths = texts.map((text) => text.slice(mode.length + 1))
    for (let at = 0; at < paths.length; at += PATHS_AT_ONCE) {
      const args = [mode, '--', ...paths.slice(at, at + PATHS_AT_ONCE)]
      let said = ''
      const end = await followProcess(parts, daemon, {
        // The home directory need not exist.
        request: { process: { cmd: 'chmod', args, cwd: '/' }, stdin: false },
        onStart: () => undefined,
        onOutput: async (bytes) => void (said += Buffer.from(bytes).toString()),
      })
      if (end.exitCode !== 0) throw new CliFailure(EXIT.failed, `The modes could not be set: ${said.trim()}.`)
    }
  }
}
