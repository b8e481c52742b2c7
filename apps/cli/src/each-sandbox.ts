import type { CliParts } from './cli-parts.ts'
import { describeFailure, EndWith } from './fail.ts'

/** How the work on one of several sandboxes ended. */
interface Outcome {
  readonly sandboxID: string
  readonly done: boolean
  readonly error?: string
}

/**
 * Does the same to several sandboxes, one after the other; a failure does not keep the others from it. Prints a line for each.
 *
 * @param done - the word for a success: `killed`
 * @throws EndWith the exit code of the first failure
 */
export async function eachSandbox(
  { output, signal }: CliParts,
  { ids, done }: { readonly ids: readonly string[]; readonly done: string },
  work: (sandboxID: string) => Promise<unknown>,
): Promise<void> {
  const outcomes: Outcome[] = []
  let exitCode: number | undefined
  for (const sandboxID of ids) {
    try {
      signal.throwIfAborted()
      await work(sandboxID)
      outcomes.push({ sandboxID, done: true })
      if (!output.isJson) output.line(`${sandboxID} ${done}`)
    } catch (err) {
      const ending = describeFailure(err, signal)
      exitCode ??= ending.exitCode
      const error = ending.sentence ?? ''
      outcomes.push({ sandboxID, done: false, error })
      output.say(`sandyard: ${sandboxID}: ${error}`)
      if (signal.aborted) break
    }
  }
  if (output.isJson) output.line(JSON.stringify(outcomes, undefined, 2))
  if (exitCode !== undefined) throw new EndWith(exitCode)
}
