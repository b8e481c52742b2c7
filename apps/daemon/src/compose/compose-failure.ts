import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode } from '../sys/errno-text.ts'

export function isOutOfSpace(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoCode(error))
}

export function outOfSpace(cause: unknown): AppError {
  return new AppError('insufficient_storage', 'not enough disk space available', { cause })
}

/** `{what}: {text}`, for failures that the request did not cause. */
export function internal(what: string, text: string, cause: unknown): AppError {
  return new AppError('internal', `${what}: ${text}`, { cause })
}

/** `given` is the path as the request has it. */
export function sourceNotFound(given: string, cause: unknown): AppError {
  return new AppError('not_found', `source file not found: ${given}`, { cause })
}

export function notRegular(given: string): AppError {
  return new AppError('invalid_argument', `source path is not a regular file: ${given}`)
}

export function isDestination(given: string): AppError {
  return new AppError('invalid_argument', `source path ${JSON.stringify(given)} cannot be the same as destination`)
}
