import { AppError } from '@sandyard/kit/errors/app-error'

/** The wire has no limit; this one keeps a single message from taking the sandbox's memory. Files travel by other routes. */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

export function tooLarge(): AppError {
  return new AppError('resource_exhausted', `message size is larger than ${MAX_MESSAGE_BYTES} bytes`)
}
