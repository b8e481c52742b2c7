import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Unreadable } from './unreadable.ts'

const MANIFEST = 'manifest.json'
const MAX_FOLDERS = 1000

/** When the backups in a folder and one level below were made, in Unix milliseconds, by their manifests. @throws Unreadable */
export async function readBackupTimes(folder: string): Promise<number[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((err: NodeJS.ErrnoException) => {
    throw new Unreadable(`${folder} cannot be read: ${err.code}`, { cause: err })
  })
  const folders = entries.filter((entry) => entry.isDirectory()).slice(0, MAX_FOLDERS)
  const files = [join(folder, MANIFEST), ...folders.map(({ name }) => join(folder, name, MANIFEST))]
  return (await Promise.all(files.map(readTime))).filter((time) => time !== undefined)
}

async function readTime(file: string): Promise<number | undefined> {
  try {
    const { createdAt } = JSON.parse(await readFile(file, 'utf8')) as { createdAt?: unknown }
    const time = Date.parse(String(createdAt))
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}
