import { isAppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'

/** One line for the log of a build. */
export function describeFailure(error: unknown): string {
  return (isAppError(error) ? error.message : describeSystemFailure(error)).replaceAll(/\s*\n\s*/g, ' ')
}

function describeSystemFailure(error: unknown): string {
  if (errnoCode(error) === 'ENOSPC') return 'no space is left in the sandbox'
  const { path, dest } = error as { path?: unknown; dest?: unknown }
  const where = [path, dest].filter((part) => typeof part === 'string').join(' to ')
  return where === '' ? errnoText(error) : `${where}: ${errnoText(error)}`
}
