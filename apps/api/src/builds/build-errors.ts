import { AppError } from '@sandyard/kit/errors/app-error'
import { limitSource } from '../teams/limit-source.ts'
import type { OwnLimits } from '../teams/team-limits.ts'
import { shorten } from '../text/shorten.ts'

/** The documented text, which clients show, and where the limit is set on a self-hosted server (control-plane.md 10.3). */
export function tooManyBuilds(limit: number, own: OwnLimits): AppError {
  return new AppError(
    'resource_exhausted',
    `you have reached the maximum number of concurrent template builds (${limit}). Please wait for existing builds to complete or contact support if you need more concurrent builds. ` +
      limitSource('SANDYARD_MAX_BUILDS', own.concurrentBuilds !== undefined),
    { headers: { 'retry-after': '1' } },
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
