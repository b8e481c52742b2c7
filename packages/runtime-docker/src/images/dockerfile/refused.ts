import { AppError } from '@sandyard/kit/errors/app-error'

const SHOWN_CHARS = 200

/** The error of an instruction that this server does not run. */
export function refused(instruction: string, why: string): AppError {
  return new AppError('failed_precondition', `${instruction.slice(0, SHOWN_CHARS)}: ${why}`)
}
