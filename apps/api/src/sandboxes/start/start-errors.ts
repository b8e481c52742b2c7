import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { MountPathError } from '@sandyard/runtime/mount-path-error'
import { isTrustStoreMissing } from '../../daemon/init-daemon.ts'
import { StartCommandError } from '../../daemon/start-until-ready.ts'

const PREFIX = 'Failed to place sandbox'

/**
 * The error of a create whose start failed (control-plane.md 6.2.4). Clients should retry automatically only when the host has no room,
 * because then nothing was started. Other failures may have had temporary effects: their answer says not to retry.
 */
export function startError(cause: unknown): AppError {
  if (cause instanceof MountPathError) {
    const message = `invalid mounts:\n\t- path '${cause.path}' is no directory in the template`
    return new AppError('invalid_argument', message, { cause })
  }
  if (isAppError(cause, 'resource_exhausted') || isAppError(cause, 'insufficient_storage')) {
    const why = cause.reason !== undefined || cause.kind === 'insufficient_storage' ? `. ${cause.message}` : ''
    const message = `${PREFIX}: not enough capacity for the requested resources right now, please retry shortly${why}`
    return new AppError('unavailable', message, { cause, reason: 'sandbox_capacity_unavailable', headers: { 'retry-after': '1' } })
  }
  const headers = { 'should-retry': 'false' }
  if (isAppError(cause, 'deadline_exceeded') || isTimeout(cause)) {
    const message = `${PREFIX}: placement timed out, please retry`
    return new AppError('deadline_exceeded', message, { cause, reason: 'sandbox_placement_timeout', headers })
  }
  const message = `${PREFIX}: ${whyNotCreated(cause)}`
  return new AppError('internal', message, { cause, reason: 'sandbox_create_failed', headers })
}

function whyNotCreated(cause: unknown): string {
  if (isAppError(cause, 'not_found') || isTrustStoreMissing(cause)) return cause.message
  if (cause instanceof StartCommandError) return `the start command of the template failed: ${cause.message}`
  return 'sandbox creation failed on 1 node(s), please retry; if the problem persists, contact us'
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError')
}
