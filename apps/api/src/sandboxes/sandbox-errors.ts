import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { quote } from './quote.ts'

/** `givenId` is the id exactly as the path had it (control-plane.md 6.4). */
export function sandboxNotFound(givenId: string): AppError {
  return new AppError('not_found', `Sandbox ${quote(givenId)} doesn't exist or you don't have access to it`)
}

const DOING = { pausing: 'paused', snapshotting: 'snapshotted', killing: 'killed' } as const

/**
 * Why a request that needs a running sandbox is refused in another state (control-plane.md 6.9): a conflict while something is
 * being done to it, not found else.
 */
export function sandboxNotRunning(givenId: string, state: SandboxState | undefined): AppError {
  if (state === 'pausing' || state === 'snapshotting' || state === 'killing') {
    return new AppError('conflict', `Sandbox ${quote(givenId)} is being ${DOING[state]}`)
  }
  return sandboxNotFound(givenId)
}

export function lifetimeTooLong(maxSeconds: number): AppError {
  return new AppError('invalid_argument', `Timeout cannot be greater than ${maxSeconds / 3600} hours`)
}

/** The documented text, which clients show, and what to do about it on a server of one's own (control-plane.md 6.2.4). */
export function tooManySandboxes(limit: number): AppError {
  return new AppError(
    'resource_exhausted',
    `you have reached the maximum number of concurrent E2B sandboxes (${limit}). If you need more, please visit 'https://e2b.dev/docs/billing'. ` +
      'On this server the limit is the setting SANDYARD_MAX_SANDBOXES.',
  )
}
