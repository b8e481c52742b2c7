import { Argument, type Command } from 'commander'
import { within } from '@sandyard/kit/async/within'
import type { CliParts } from '../cli-parts.ts'
import { COMPLETED_SHELLS, type CompletedShell, FILES_MARK, SCRIPTS } from '../complete/scripts.ts'
import { printable } from '../output.ts'
import { findWanted, type Value } from '../complete/wanted.ts'

/** A person waits for the list. */
const LIVE_TIMEOUT_MS = 3000

export function registerCompletion(program: Command, parts: CliParts): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(COMPLETED_SHELLS))
    .description('print what a shell needs to complete this command: source <(sandyard completion bash)')
    .action((shell: CompletedShell) => void parts.output.stdout.write(SCRIPTS[shell]))
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) => complete(program, parts, words))
}

/** Prints what begins with the last word. A server that does not answer has nothing to add. */
async function complete(program: Command, parts: CliParts, words: readonly string[]): Promise<void> {
  const wanted = findWanted(program, words)
  if (wanted.kind === 'files') return parts.output.line(FILES_MARK)
  const current = words.at(-1) ?? ''
  const read = async (): Promise<readonly Value[]> => {
    if (wanted.kind === 'values') return wanted.values
    const { readLiveValues } = await import('../complete/live-values.ts')
    return readLiveValues(parts, wanted)
  }
  const values = await within({ what: 'the list', timeoutMs: LIVE_TIMEOUT_MS }, read).catch(() => [])
  for (const { value, description = '' } of values)
    if (value.startsWith(current)) parts.output.line(`${printable(value)}\t${printable(description)}`)
}
