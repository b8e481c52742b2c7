import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'

/** The documented text, which clients show, and the setting to change on a self-hosted server (control-plane.md 10.3). */
export function tooManyBuilds(limit: number): AppError {
  return new AppError(
    'resource_exhausted',
    `you have reached the maximum number of concurrent template builds (${limit}). Please wait for existing builds to complete or contact support if you need more concurrent builds. ` +
      'On this server the limit is the setting SANDYARD_MAX_BUILDS.',
  )
}

export function templateDeleted(templateId: string): AppError {
  return new AppError('not_found', `Template '${shorten(templateId)}' has been deleted and cannot be rebuilt`)
}

/** The answer of the operations that start a build (control-plane.md 10.2, 10.5). */
export function buildNotFound(detail: string): AppError {
  return new AppError('not_found', `Error when getting template: ${detail}`)
}

export function foreignBuild(): AppError {
  return new AppError('permission_denied', 'User does not have access to the template')
}

export function notWaiting(): AppError {
  return new AppError('invalid_argument', 'build is not in waiting state')
}
