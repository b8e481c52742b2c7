import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Header, pack } from 'tar-stream'
import { runCommand } from '../../src/image-tool/run-command.ts'
import { createScratchDirectory } from './scratch-directory.ts'

export type TarItem = Partial<Header> & { readonly name: string; readonly body?: string }

const FILES = {
  'etc/passwd': `root:x:0:0:root:/root:/bin/bash
user:x:1000:1000::/home/user:/bin/bash
app:x:1001:1001::/home/app:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
  'etc/group': 'root:x:0:\nstaff:x:50:\nuser:x:1000:\napp:x:1001:\nnogroup:x:65534:\n',
}

/** The files of an image in a temporary directory, and the image tool that works on them. */
export class ImageRoot implements AsyncDisposable {
  readonly path: string
  /** The lines that the tool has printed. */
  readonly lines: string[] = []
  readonly #directory: AsyncDisposable

  private constructor(directory: AsyncDisposable & { readonly path: string }) {
    this.#directory = directory
    this.path = directory.path
  }

  /** @param files by path; default: those of a small Debian */
  static async create(files: Readonly<Record<string, string>> = FILES): Promise<ImageRoot> {
    const image = new ImageRoot(await createScratchDirectory())
    for (const [path, text] of Object.entries(files)) await image.write(path, text)
    return image
  }

  async write(path: string, text: string, mode = 0o644): Promise<void> {
    await mkdir(dirname(join(this.path, path)), { recursive: true })
    await writeFile(join(this.path, path), text, { mode })
  }

  read(path: string): Promise<string> {
    return readFile(join(this.path, path), 'latin1')
  }

  /** Runs a command of the tool. Rejects with the error line that the tool would print. */
  run(command: string, request: object): Promise<void> {
    const place = { volume: join(this.path, 'volume'), environment: {}, say: (line: string) => void this.lines.push(line) }
    return runCommand(command, JSON.stringify({ ...request, root: this.path }), place)
  }

  async copy(archive: Buffer, request: object): Promise<void> {
    await writeFile(join(this.path, 'archive.tar'), archive)
    await this.run('copy', { archive: '/archive.tar', workdir: null, user: 'user', owner: '', mode: '', ...request })
  }

  /** All entries below a directory: `path mode owner:group`, a `/` after directories, the target of links, the content of files. */
  async list(directory: string): Promise<string[]> {
    const lines: string[] = []
    const walk = async (path: string, prefix: string): Promise<void> => {
      for (const entry of (await readdir(path, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        lines.push(`${prefix}${entry.name}${await describe(join(path, entry.name))}`)
        if (entry.isDirectory()) await walk(join(path, entry.name), `${prefix}${entry.name}/`)
      }
    }
    await walk(join(this.path, directory), '')
    return lines
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#directory[Symbol.asyncDispose]() as Promise<void>
  }
}

export async function tar(items: readonly TarItem[]): Promise<Buffer> {
  const archive = pack()
  for (const { body = '', ...header } of items) archive.entry(header, body)
  archive.finalize()
  return Buffer.concat((await Array.fromAsync(archive)) as Buffer[])
}

async function describe(path: string): Promise<string> {
  const entry = await lstat(path)
  const owner = `${entry.uid}:${entry.gid}`
  if (entry.isSymbolicLink()) return ` ${owner} -> ${await readlink(path)}`
  const mode = (entry.mode & 0o7777).toString(8)
  return entry.isDirectory() ? `/ ${mode} ${owner}` : ` ${mode} ${owner} = ${await readFile(path, 'utf8')}`
}
