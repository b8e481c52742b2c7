import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The inputs of the distribution, in addition to the running Node. */
const SOURCES = ['apps/daemon/src', 'apps/daemon/build', 'packages/kit/src', 'packages/daemon-protocol/src', 'pnpm-lock.yaml']

/** 12 hex digits that change with the content of the distribution. `extra` are files that are copied into it unchanged. */
export async function hashInputs(root: string, extra: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`)
  for (const source of SOURCES) {
    for (const file of await listFiles(join(root, source))) {
      if (file.endsWith('.test.ts')) continue
      hash.update(`${relative(root, file)}\n`).update(await readFile(file))
    }
  }
  for (const file of extra) {
    const { size } = await stat(file)
    hash.update(`${file.slice(file.lastIndexOf('/'))} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 12)
}

async function listFiles(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
