import { runProgram } from './run-program.ts'
import type { MatrixClient } from './client.ts'

const TIMEOUT_MS = 60_000

/**
 * The newest release of the client's package, as its registry names it.
 *
 * @throws Error with the registry's answer
 */
export async function newestRelease({ registry, package: name }: MatrixClient): Promise<string> {
  const [program, args] =
    registry === 'npm'
      ? (['npm', ['view', name, 'dist-tags.latest']] as const)
      : (['python3', ['-m', 'pip', 'index', 'versions', name, '--disable-pip-version-check']] as const)
  const { status, stdout, stderr } = await runProgram(program, args, { timeoutMs: TIMEOUT_MS })
  const version = registry === 'npm' ? stdout.trim() : /\(([^)]+)\)/.exec(stdout)?.[1]
  if (status !== 0 || version === undefined || version === '') throw new Error(`${name}: ${lastLine(stderr)}`)
  return version
}

/** Whether a release comes before another one, by the numbers of both. */
export function isBefore(version: string, other: string): boolean {
  const [numbers, others] = [version, other].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0))
  for (const [index, number] of (numbers ?? []).entries()) {
    const compared = number - (others?.[index] ?? 0)
    if (compared !== 0) return compared < 0
  }
  return false
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
