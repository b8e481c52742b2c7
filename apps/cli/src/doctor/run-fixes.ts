import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { createInterface } from 'node:readline/promises'
import type { CliParts } from '../cli-parts.ts'
import { printable } from '../output.ts'
import type { CheckResult } from './run-checks.ts'

/** Prints the commands of all findings. At a terminal each runs after a yes of its own; anything else leaves it out. */
export async function runFixes(
  { output, signal, stdin }: Pick<CliParts, 'output' | 'signal' | 'stdin'>,
  results: readonly CheckResult[],
): Promise<void> {
  const fixes = results.flatMap(({ check, finding }) => (finding.commands ?? []).map((command) => ({ id: check.id, command })))
  if (fixes.length === 0) return output.say('No finding has a command that repairs it.')
  for (const { id, command } of fixes) {
    output.say(`${id}: ${printable(command)}`)
    if (!stdin.isTTY || !(await isAllowed({ output, signal, stdin }))) continue
    output.say(await runCommand(command, signal))
  }
  if (!stdin.isTTY) output.say('There is no terminal to ask: nothing was run.')
}

async function isAllowed({ output, signal, stdin }: Pick<CliParts, 'output' | 'signal' | 'stdin'>): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: output.stderr })
  try {
    return /^(y|yes)$/i.test((await lines.question('  run it? [y/N] ', { signal })).trim())
  } finally {
    lines.close()
  }
}

/** How it ended; for a failure with what it said. */
async function runCommand(command: string, signal: AbortSignal): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'], signal })
  try {
    const [[code], said] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stderr)])
    return code === 0 ? '  done' : `  it failed: ${printable(said.trim()) || `exit code ${code ?? 'of a signal'}`}`
  } catch (err) {
    signal.throwIfAborted()
    return `  it could not be started: ${(err as Error).message}`
  }
}
