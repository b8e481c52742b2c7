import { Lost, WrongAnswer, type KnownSandbox, type Sandbox } from './known-sandbox.ts'
import { hasLostMemory } from '../after/reports.ts'
import type { ClientParts } from './client-parts.ts'
import { e2b251 } from '../../../acceptance/support/sdks.ts'

const MEMORY_FILE = '/dev/shm/chaos'

/** Reads an acknowledged file, and compares it. @throws Lost, WrongAnswer, the error of the SDK */
export async function readBack(sandbox: Sandbox, path: string, expected: string): Promise<void> {
  let found: string
  try {
    found = await sandbox.files.read(path)
  } catch (err) {
    if (err instanceof e2b251.FileNotFoundError) throw new Lost(`the file ${path} of ${sandbox.sandboxId}`)
    throw err
  }
  if (found !== expected) throw new WrongAnswer(`${path} of ${sandbox.sandboxId} has ${found.length} other characters`)
}

/** Puts something into the memory of a sandbox: a file that a stop of its processes removes. */
export async function remember(known: KnownSandbox, text: string): Promise<void> {
  await known.sandbox.files.write(MEMORY_FILE, text, { user: 'root' })
  known.memory = text
}

/** Checks that the sandbox has kept its memory. @throws Lost, the error of the SDK */
export async function recall({ databaseUrl, engineDies }: ClientParts, known: KnownSandbox): Promise<void> {
  if (known.memory === undefined) return
  const { memory } = known
  // After one report nothing more is expected.
  known.memory = undefined
  try {
    await readBack(known.sandbox, MEMORY_FILE, memory)
  } catch (err) {
    if (!(err instanceof Lost)) known.memory = memory
    if (!(err instanceof Lost)) throw err
    if (engineDies && (await hasLostMemory(databaseUrl, known.id))) return
    throw new Lost(`the memory of ${known.id}`)
  }
  known.memory = memory
}
