import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { READY_MADE_FOLDER } from '@sandyard/templates/manifest'

interface TinyTemplate {
  readonly version?: number
  /** The command of its one RUN step. Default: `true`. */
  readonly command?: string
  /** The content of the file that it copies. Default: it copies none. */
  readonly file?: string
  /** In place of `template.ts`. */
  readonly source?: string
}

/** A folder of ready-made templates that a test writes. Their files find the SDK. */
export interface ReadyMadeFolder extends AsyncDisposable {
  readonly path: string
  write(name: string, template?: TinyTemplate): Promise<void>
}

export async function createReadyMadeFolder(): Promise<ReadyMadeFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sandyard-ready-made-'))
  await symlink(join(READY_MADE_FOLDER, 'node_modules'), join(path, 'node_modules'))
  return {
    path,
    write: async (name, { version = 1, command = 'true', file, source } = {}) => {
      const folder = join(path, name)
      await mkdir(folder, { recursive: true })
      const manifest = { description: `The template ${name}`, version, cpuCount: 2, memoryMB: 512 }
      await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
      if (file !== undefined) await writeFile(join(folder, 'greeting.txt'), file)
      const copy = file === undefined ? '' : `.copy('greeting.txt', '/opt/greeting.txt')`
      const made = `import { Template } from 'e2b'
export const template = Template().fromTemplate('base').runCmd(${JSON.stringify(command)})${copy}
`
      await writeFile(join(folder, 'template.ts'), source ?? made)
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
