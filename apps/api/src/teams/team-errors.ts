import { AppError } from '@sandyard/kit/errors/app-error'
import { limitSource } from './limit-source.ts'

export function teamNotFound(): AppError {
  return new AppError('not_found', 'Team not found')
}

export function userNotFound(): AppError {
  return new AppError('not_found', 'User not found')
}

/** @param isOwn - the limit is that of the team's row */
export function tooMuchStored(limitBytes: number, isOwn: boolean): AppError {
  const where = limitSource('SANDYARD_MAX_STORED', isOwn)
  return new AppError('insufficient_storage', `The team would store more than ${limitBytes} bytes in volumes and uploads. ${where}`)
}
