import type { Image } from '../image.ts'
import { findProgram } from './find-program.ts'
import {
  findPackageManager,
  hasPackageLists,
  listMissing,
  type PackageManager,
  removePackageLists,
  type Wanted,
} from './package-managers.ts'
import { runProgram } from './run-program.ts'

/** For all calls of the package manager together. */
const TIMEOUT_MS = 5 * 60 * 1000

/**
 * Installs missing packages that clients expect, with the image's own package manager: all in one call; if that fails sudo alone, the most
 * important one, and then each of the others. A failure here does not fail the build.
 */
export async function installPackages(image: Image): Promise<void> {
  const missing = listMissing(image)
  if (missing.length === 0) return
  const manager = findPackageManager(image)
  if (manager !== undefined) image.say(`installing with ${manager.program}: ${missing.join(', ')}`)
  const problem = manager === undefined ? 'the image has no package manager that is known' : await install(image, manager, missing)

  const stillMissing = listMissing(image)
  if (stillMissing.includes('sudo')) image.say(`warning: sudo could not be installed: ${problem ?? 'the package has no such program'}`)
  const others = stillMissing.filter((wanted) => wanted !== 'sudo')
  if (others.length > 0) image.say(`warning: not installed: ${others.join(', ')}${problem === undefined ? '' : `: ${problem}`}`)
}

/** The error of the package manager; undefined on success. */
async function install(image: Image, manager: PackageManager, missing: readonly Wanted[]): Promise<string | undefined> {
  const hadLists = hasPackageLists(image)
  const deadline = Date.now() + TIMEOUT_MS
  const run = (args: readonly string[]): Promise<string | undefined> => runManager(image, { manager, args, deadline })
  const add = (wanted: readonly Wanted[]): Promise<string | undefined> =>
    run([...manager.install, ...wanted.map((name) => manager.names[name] ?? name)])
  try {
    const stale = manager.refresh === undefined ? undefined : await run(manager.refresh)
    const problem = await add(missing)
    if (problem === undefined) return undefined
    const inTurn = missing.toSorted((a, b) => Number(b === 'sudo') - Number(a === 'sudo'))
    for (const [index, wanted] of inTurn.entries()) {
      const failed = await add([wanted])
      // Without package lists, or after the deadline, the others fail in the same way.
      if (failed !== undefined && (index === 0 || stale !== undefined || Date.now() > deadline)) break
    }
    return problem
  } finally {
    manager.clean?.(image)
    if (!hadLists) removePackageLists(image)
  }
}

interface ManagerRun {
  readonly manager: PackageManager
  readonly args: readonly string[]
  readonly deadline: number
}

async function runManager(image: Image, { manager, args, deadline }: ManagerRun): Promise<string | undefined> {
  const program = findProgram(image, manager.program)
  if (program === undefined) return `${manager.program} is gone`
  return runProgram(image, { program, args, timeoutMs: Math.max(1, deadline - Date.now()) })
}
