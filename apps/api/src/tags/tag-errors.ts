import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'

/** The texts of control-plane.md 12. */

export function noTags(): AppError {
  return new AppError('invalid_argument', 'At least one tag is required')
}

export function foreignTemplate(reference: string): AppError {
  return new AppError('permission_denied', `You don't have access to sandbox template '${shorten(reference)}'`)
}
