import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface ContextEntry {
  readonly text?: string
  readonly mode?: number
  /** Creates a symbolic link to this path instead. */
  readonly link?: string
}

/** A directory with files for COPY steps. */
export interface BuildContext extends AsyncDisposable {
  readonly directory: string
}

/** Creates a directory with these files and their parent directories. */
export async function makeContext(entries: Readonly<Record<string, string | ContextEntry>>): Promise<BuildContext> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-context-'))
  for (const [name, value] of Object.entries(entries)) {
    const entry = typeof value === 'string' ? { text: value } : value
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    if (entry.link !== undefined) {
      await symlink(entry.link, path)
      continue
    }
    await writeFile(path, entry.text ?? '')
    await chmod(path, entry.mode ?? 0o644)
  }
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
}
