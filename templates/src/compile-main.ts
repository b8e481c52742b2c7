/**
 * A program: runs the file of a template and writes what it describes into a folder, with the archives of its COPY steps. The server starts
 * it without its own environment, so the SDK and the bundler of a template are in no server's memory.
 *
 * `node compile-main.ts <folder of the template> <folder for the result>`
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Template, type TemplateClass } from 'e2b'
import { COMPILED_FILE, type CompiledArchive, type CompiledStep, type CompiledTemplate } from './compiled-template.ts'
import { writeArchive } from './write-archive.ts'

interface TemplateFile {
  readonly template: TemplateClass
  /** The folder of the files that it copies, if that is not its own. */
  readonly context?: string
}

interface SerializedStep {
  readonly type: string
  readonly args?: readonly string[]
  readonly force?: boolean
  readonly filesHash?: string
}

interface Serialized {
  readonly fromImage?: string
  readonly fromTemplate?: string
  readonly steps: readonly SerializedStep[]
  readonly startCmd?: string
  readonly readyCmd?: string
}

const [folder = '', out = ''] = process.argv.slice(2)
const { template, context = folder } = (await import(pathToFileURL(join(folder, 'template.ts')).href)) as TemplateFile
const serialized = JSON.parse(await Template.toJSON(template)) as Serialized
const { fromImage, fromTemplate, startCmd, readyCmd } = serialized
const steps = serialized.steps.map(({ type, args = [], force = false, filesHash }): CompiledStep => ({ type, args, force, filesHash }))
const compiled: CompiledTemplate = { fromImage, fromTemplate, steps, startCmd, readyCmd, archives: await writeArchives(steps) }
await writeFile(join(out, COMPILED_FILE), JSON.stringify(compiled))

async function writeArchives(steps: readonly CompiledStep[]): Promise<CompiledArchive[]> {
  const archives = new Map<string, CompiledArchive>()
  for (const { args, filesHash: hash } of steps) {
    if (hash === undefined || archives.has(hash)) continue
    const file = `${hash}.tar`
    await writeArchive(join(out, file), context, args[0] ?? '')
    archives.set(hash, { hash, file })
  }
  return [...archives.values()]
}
