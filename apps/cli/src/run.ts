import type { Environment } from '@sandyard/kit/config/parse-config'
import { CliParts } from './cli-parts.ts'
import { EXIT } from './exit-codes.ts'
import { describeFailure } from './fail.ts'
import { Output } from './output.ts'
import { createProgram } from './program.ts'

export interface Invocation {
  /** Without the program. */
  readonly args: readonly string[]
  readonly environment: Environment
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly signal: AbortSignal
}

/** Runs one command line and returns its exit code. */
export async function run({ args, stdout, stderr, ...surroundings }: Invocation): Promise<number> {
  const output = new Output(stdout, stderr)
  await using parts = new CliParts({ ...surroundings, output })
  try {
    await createProgram(parts).parseAsync([...args], { from: 'user' })
    return EXIT.done
  } catch (err) {
    const { sentence, exitCode } = describeFailure(err, surroundings.signal)
    if (sentence !== undefined) output.say(`sandyard: ${sentence}`)
    return exitCode
  }
}
