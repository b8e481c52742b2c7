import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
    if (!stdin.isTTY || !(await isAllowed(stdin, signal))) continue
    output.say(await runCommand(command, signal))
  }
  if (!stdin.isTTY) output.say('There is no terminal to ask: nothing was run.')
}

async function isAllowed(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: process.stderr })
  try {
    return /^(y|yes)$/i.test((await lines.question('  run it? [y/N] ', { signal })).trim())
  } finally {
    lines.close()
  }
}

/** How it ended. Its output goes to ours. */
async function runCommand(command: string, signal: AbortSignal): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', process.stderr.fd, process.stderr.fd], signal })
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code === 0 ? '  done' : `  it failed with exit code ${code ?? 'of a signal'}`
  } catch (err) {
    signal.throwIfAborted()
    return `  it could not be started: ${(err as Error).message}`
  }
}
