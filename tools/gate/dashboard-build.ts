import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { budgetProblems, type Manifest } from './dashboard-budgets.ts'
import { ROOT, runCommand } from './run-command.ts'

const APP = join(ROOT, 'apps/dashboard')
const TIMEOUT_MS = 120_000

/** Builds the page and compares what its screens load with their budgets. @returns lines for people, none when all is well */
export async function checkDashboardBuild(): Promise<readonly string[]> {
  const { ok, output } = await runCommand('vite', ['build', APP], { timeoutMs: TIMEOUT_MS })
  if (!ok) return [output.trimEnd()]
  const manifest = JSON.parse(readFileSync(join(APP, 'dist/manifest.json'), 'utf8')) as Manifest
  const sizes = new Map<string, number>()
  return budgetProblems(manifest, (file) => {
    const size = sizes.get(file) ?? gzipSync(readFileSync(join(APP, 'dist', file)), { level: 9 }).length
    sizes.set(file, size)
    return size
  })
}
