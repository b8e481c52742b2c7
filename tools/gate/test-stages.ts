import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addCounts, NOTHING, oneFailed, type Counts } from './counts.ts'
import { ROOT, runCommand } from './run-command.ts'
import type { Need, Stage } from './stage.ts'

/** The projects of `vitest.config.ts`, cheapest first, the ways out of sandboxes, crashes of the server's parts, and the dashboard in a browser. */
export const TEST_STAGES: readonly Stage[] = [
  project('unit', 180_000, []),
  project('integration', 1_200_000, ['database', 'test-packages']),
  project('engine', 1_200_000, ['engine', 'database', 'test-packages']),
  stage('escape', { command: [process.execPath, 'tests/escape/main.ts'], timeoutMs: 600_000, needs: ['engine'] }),
  {
    ...stage('chaos', { command: [process.execPath, 'tests/long/chaos.ts', '--slice'], timeoutMs: 600_000, needs: ['engine'] }),
    isConcurrent: true,
  },
  project('acceptance', 1_200_000, ['engine', 'server']),
  project('browser', 600_000, ['browser', 'engine', 'server']),
  // Installs a template from PyPI and npm, which takes minutes the first time (docs/code-interpreter.md).
  { ...project('code-interpreter', 1_800_000, ['engine', 'server']), isByHand: true },
  // Its templates take minutes to build, and much of a package mirror.
  { ...project('ready-made', 7_200_000, ['browser', 'engine', 'server']), isByHand: true },
  // They install packages from npm and PyPI.
  { ...project('examples', 1_200_000, ['engine', 'server']), isByHand: true },
]

function project(name: string, timeoutMs: number, needs: readonly Need[]): Stage {
  return stage(name, { command: ['vitest', 'run', '--project', name, '--passWithNoTests'], timeoutMs, needs })
}

interface Run {
  /** A program that writes its counts to the file that `SANDYARD_TEST_REPORT` names. */
  readonly command: readonly string[]
  readonly timeoutMs: number
  readonly needs: readonly Need[]
}

function stage(name: string, { command: [program = '', ...args], timeoutMs, needs }: Run): Stage {
  return {
    name,
    needs,
    async run({ environment }): Promise<Counts> {
      const report = join(ROOT, '.tools/reports', `${name}.json`)
      rmSync(report, { force: true })
      const { ok, isLate } = await runCommand(program, args, {
        timeoutMs,
        isLive: true,
        environment: { ...environment, SANDYARD_TEST_REPORT: report },
      })
      const counts = readReport(report)
      if (isLate) return addCounts([counts ?? NOTHING, oneFailed(`${name} (took longer than ${timeoutMs / 1000} s)`)])
      if (counts === undefined) return oneFailed(`${name} (it ended without a report)`)
      // A run that the program itself reports as failed must not pass because of its counts.
      return ok || counts.failed > 0 ? counts : addCounts([counts, oneFailed(`${name} (it ended with an error)`)])
    },
  }
}

function readReport(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts
  } catch {
    return undefined
  }
}
