import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { oneFailed, onePassed, type Counts } from './counts.ts'
import { checkDashboardBuild } from './dashboard-build.ts'
import { findStaleGeneratedCode } from './generated-code.ts'
import { ROOT, runCommand } from './run-command.ts'
import type { Stage } from './stage.ts'

const DOCS = join(ROOT, 'tools/docs.ts')
const OPENAPI = join(ROOT, 'tools/openapi.ts')

/** The checks that need only the tree, side by side, since most of them use one processor. Each counts as one. */
export const STATIC_STAGES: readonly Stage[] = [
  { ...check('lint', 180_000, ['oxlint', '--type-aware']), isConcurrent: false },
  check('format', 60_000, ['oxfmt', '--check', '.']),
  check('typecheck', 180_000, ['tsc', '--noEmit']),
  check('typecheck-dashboard', 120_000, ['tsc', '--noEmit', '-p', 'apps/dashboard/tsconfig.json']),
  {
    name: 'generated',
    isConcurrent: true,
    async run() {
      const stale = await findStaleGeneratedCode()
      if (stale === '') return onePassed()
      process.stdout.write(`${stale}\n`)
      return oneFailed('generated')
    },
  },
  {
    name: 'dashboard',
    async run() {
      const problems = await checkDashboardBuild()
      for (const problem of problems) process.stdout.write(`${problem}\n`)
      return problems.length === 0 ? onePassed() : oneFailed('dashboard')
    },
  },
  check('knip', 120_000, ['knip', '--no-progress']),
  check('openapi', 60_000, [process.execPath, OPENAPI]),
  ...(existsSync(DOCS) ? [check('docs', 120_000, [process.execPath, DOCS, '--check'])] : []),
]

function check(name: string, timeoutMs: number, [program = '', ...args]: readonly string[]): Stage {
  return {
    name,
    isConcurrent: true,
    async run(): Promise<Counts> {
      const { ok, output, isLate } = await runCommand(program, args, { timeoutMs })
      if (ok) return onePassed()
      process.stdout.write(output.endsWith('\n') ? output : `${output}\n`)
      return oneFailed(isLate ? `${name} (took longer than ${timeoutMs / 1000} s)` : name)
    },
  }
}
