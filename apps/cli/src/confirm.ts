import { createInterface } from 'node:readline/promises'
import type { CliParts } from './cli-parts.ts'
import { EXIT } from './exit-codes.ts'
import { CliFailure } from './fail.ts'

/**
 * Asks before something is destroyed. `isYes` is the answer that was given on the command line.
 *
 * @throws CliFailure `refused` after another answer than yes, and without a terminal to ask
 */
export async function confirm({ stdin, output, signal }: CliParts, question: string, isYes: boolean | undefined): Promise<void> {
  if (isYes === true) return
  if (!stdin.isTTY) throw new CliFailure(EXIT.refused, `${question} There is no terminal to ask: repeat it with --yes.`)
  const lines = createInterface({ input: stdin, output: output.stderr })
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal })
    if (/^(y|yes)$/i.test(answer.trim())) return
    output.say('Nothing was changed.')
    throw new CliFailure(EXIT.refused, 'Not confirmed.')
  } finally {
    lines.close()
  }
}
