import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { COMPILED_FILE, type CompiledTemplate } from '@sandyard/templates/compiled-template'
import type { Manifest } from '@sandyard/templates/manifest'
import { AppError } from '@sandyard/kit/errors/app-error'

const run = promisify(execFile)

const PROGRAM = fileURLToPath(import.meta.resolve('@sandyard/templates/compile-main'))
const TIMEOUT_MS = 120_000
const HEAP_MIB = 512
const MOST_OUTPUT_BYTES = 64 * 1024

/** What a folder describes, with the archives of its COPY steps in a folder that is removed when this is disposed. */
export interface Compiled extends AsyncDisposable {
  readonly template: CompiledTemplate
  /** SHA-256 of all that a build is made from. */
  readonly digest: string
  readonly folder: string
}

/**
 * Runs the file of a ready-made template in a process of its own, without the environment of the server: no secret of it is there.
 *
 * @throws AppError `internal` when the process fails, with its output as the cause; `signal.reason`
 */
export async function compileTemplate(manifest: Manifest, signal: AbortSignal): Promise<Compiled> {
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-template-'))
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const compileCache = getCompileCacheDir()
    await run(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, PROGRAM, manifest.folder, folder], {
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: folder,
        TMPDIR: folder,
        NODE_ENV: 'production',
        ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
      },
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MOST_OUTPUT_BYTES,
      signal,
    })
    const template = JSON.parse(await readFile(join(folder, COMPILED_FILE), 'utf8')) as CompiledTemplate
    return { template, digest: digestOf(manifest, template), folder, [Symbol.asyncDispose]: dispose }
  } catch (cause) {
    await dispose()
    signal.throwIfAborted()
    throw new AppError('internal', `The files of the ready-made template '${manifest.name}' on this server are broken`, { cause })
  }
}

function digestOf({ cpuCount, memoryMib, minDiskMib }: Manifest, template: CompiledTemplate): string {
  const { archives: _, ...described } = template
  return createHash('sha256')
    .update(JSON.stringify([described, cpuCount, memoryMib, minDiskMib ?? null]))
    .digest('hex')
}
