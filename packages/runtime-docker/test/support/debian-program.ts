import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from '../../src/host/find-program.ts'
import { runStep } from '../../src/host/run-step.ts'

const TOOLS = join(import.meta.dirname, '../../../../.tools')

/**
 * A program for tests: the installed one, else the one of Debian's package, unpacked below `.tools`. The machine does not change, and no
 * service of the package is started.
 *
 * @param name - the package
 * @throws Error when the package cannot be downloaded
 */
export async function debianProgram(name: string, program: string = name): Promise<string> {
  const installed = findProgram(program)
  if (installed !== undefined) return installed
  const folder = join(TOOLS, name)
  const file = join(folder, 'usr/bin', program)
  if (await exists(file)) return file
  await mkdir(TOOLS, { recursive: true })
  const scratch = await mkdtemp(join(TOOLS, `${name}-`))
  try {
    await download(name, scratch)
    const [archive = ''] = (await readdir(scratch)).filter((each) => each.endsWith('.deb'))
    await step('dpkg-deb', ['-x', join(scratch, archive), join(scratch, 'root')])
    // Another test run may have been faster.
    await rename(join(scratch, 'root'), folder).catch(() => undefined)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return file
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

async function download(name: string, folder: string): Promise<void> {
  const get = (): ReturnType<typeof runStep> =>
    runStep('sh', ['-c', 'cd "$1" && apt-get download -q "$2"', 'sh', folder, name], { timeoutMs: 120_000 })
  if ((await get()).ok) return
  await step('apt-get', ['update', '-q'])
  const { ok, tail } = await get()
  if (!ok) throw new Error(`Debian's package ${name} could not be downloaded: ${tail}`)
}

async function step(command: string, args: string[]): Promise<void> {
  const { ok, tail } = await runStep(command, args, { timeoutMs: 180_000 })
  if (!ok) throw new Error(`${command} failed: ${tail}`)
}
