import { CommanderError } from 'commander'
import { ConfigError } from '@sandyard/kit/config/parse-config'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { EXIT, exitCodeOf, type ExitCode } from './exit-codes.ts'

/** A failure that ends the command: one sentence for a person, printed unchanged on stderr, and the exit code. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure'
  readonly exitCode: number

  constructor(exitCode: ExitCode, sentence: string, options: { readonly cause?: unknown } = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause })
    this.exitCode = exitCode
  }
}

/** The command ends with this code and without a sentence: the program that it ran has said what there was to say. */
export class EndWith extends Error {
  override readonly name = 'EndWith'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

export interface Ending {
  /** Undefined when it was printed already, or there is nothing to say. */
  readonly sentence: string | undefined
  readonly exitCode: number
}

/** How a command ends that threw `error`. Never a stack trace. */
export function describeFailure(error: unknown, signal: AbortSignal): Ending {
  if (error instanceof EndWith) return { sentence: undefined, exitCode: error.exitCode }
  // commander has printed its message, and the help text when it was asked for.
  if (error instanceof CommanderError) return { sentence: undefined, exitCode: error.exitCode === 0 ? EXIT.done : EXIT.usage }
  if (signal.aborted) return { sentence: 'Interrupted.', exitCode: EXIT.interrupted }
  if (error instanceof CliFailure) return { sentence: error.message, exitCode: error.exitCode }
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: EXIT.usage }
  if (isAppError(error)) return { sentence: error.message, exitCode: exitCodeOf(error.kind) }
  return { sentence: `${firstLine(error)}.`, exitCode: EXIT.failed }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.split('\n')[0] ?? '').replace(/\.$/, '') || 'The command failed and gave no reason'
}
