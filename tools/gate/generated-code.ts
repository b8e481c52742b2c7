import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, runCommand } from './run-command.ts'

const GENERATED = 'packages/daemon-protocol/src/gen'
const TIMEOUT_MS = 60_000

/** Generates into a scratch folder and compares; the tree is not changed. Returns an empty text when up to date, else the differences. */
export async function findStaleGeneratedCode(): Promise<string> {
  const lint = await runCommand('buf', ['lint'], { timeoutMs: TIMEOUT_MS })
  if (!lint.ok) return lint.output
  const scratch = await mkdtemp(join(tmpdir(), 'sandyard-gen-'))
  try {
    const made = await runCommand('buf', ['generate', '--output', scratch], { timeoutMs: TIMEOUT_MS })
    if (!made.ok) return made.output
    const [fresh, present] = await Promise.all([readTree(join(scratch, GENERATED)), readTree(join(ROOT, GENERATED))])
    const names = [...new Set([...fresh.keys(), ...present.keys()])].sort()
    const stale = names.filter((name) => fresh.get(name) !== present.get(name))
    return stale.map((name) => `${GENERATED}/${name} differs from the code that proto/ generates: run "npm run gen"`).join('\n')
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function readTree(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const)))
}
