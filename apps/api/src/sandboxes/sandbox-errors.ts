import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { limitSource } from '../teams/limit-source.ts'
import type { OwnLimits } from '../teams/team-limits.ts'

/** `givenId` is the unchanged id from the path (control-plane.md 6.4). */
export function sandboxNotFound(givenId: string): AppError {
  return new AppError('not_found', `Sandbox ${quote(givenId)} doesn't exist or you don't have access to it`)
}

const DOING = { pausing: 'paused', snapshotting: 'snapshotted', killing: 'killed' } as const

/** The error of a request that needs a running sandbox (control-plane.md 6.9): `conflict` during a transition, else `not_found`. */
export function sandboxNotRunning(givenId: string, state: SandboxState | undefined): AppError {
  if (state === 'pausing' || state === 'snapshotting' || state === 'killing') {
    return new AppError('conflict', `Sandbox ${quote(givenId)} is being ${DOING[state]}`)
  }
  return sandboxNotFound(givenId)
}

export function lifetimeTooLong(maxSeconds: number): AppError {
  return new AppError('invalid_argument', `Timeout cannot be greater than ${maxSeconds / 3600} hours`)
}

/** The documented text, which clients show, and where the limit is set on a self-hosted server (control-plane.md 6.2.4). */
export function tooManySandboxes(limit: number, own: OwnLimits): AppError {
  return new AppError(
    'resource_exhausted',
    `you have reached the maximum number of concurrent E2B sandboxes (${limit}). If you need more, please visit 'https://e2b.dev/docs/billing'. ` +
      limitSource('SANDYARD_MAX_SANDBOXES', own.concurrentSandboxes !== undefined),
    { headers: { 'retry-after': '1' } },
  )
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Double-quotes like Go's `%q`, as the texts of control-plane.md require. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\\n\r\t]|\p{Cc}/gu, (char) => ESCAPES[char] ?? `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`)}"`
}
