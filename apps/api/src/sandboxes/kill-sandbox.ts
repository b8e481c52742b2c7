import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { beginEnd, finishEnd, type EndParts } from './end-sandbox.ts'
import { sandboxNotFound } from './sandbox-errors.ts'
import { parseSandboxId } from './sandbox-id.ts'
import { findSandbox } from './sandbox-queries.ts'

export interface KillRequest {
  readonly givenId: string
  readonly actor: Actor
}

/**
 * Ends a sandbox of the team and returns when it is removed. Waits if it is already ending (control-plane.md 6.5).
 *
 * @throws AppError `not_found`; `internal` when the runtime fails: the sandbox is then unreachable and removed later
 */
export async function killSandbox(parts: EndParts, teamId: string, { givenId, actor }: KillRequest): Promise<void> {
  const sandbox = await findSandbox(parts.database.db, teamId, parseSandboxId(givenId))
  if (sandbox === undefined || sandbox.state === 'starting') throw sandboxNotFound(givenId)
  const ref: SandboxRef = { sandboxId: sandbox.sandbox_id, incarnation: sandbox.incarnation }
  await beginEnd(parts.database, ref, 'killed', actor)
  try {
    await finishEnd(parts, ref)
  } catch (cause) {
    const detail = isAppError(cause) ? cause.message : 'the runtime failed'
    throw new AppError('internal', `Error killing sandbox: ${detail}`, { cause })
  }
}
