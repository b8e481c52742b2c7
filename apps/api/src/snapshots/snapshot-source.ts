import { AppError } from '@sandyard/kit/errors/app-error'
import type { LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { sandboxNotFound } from '../sandboxes/sandbox-errors.ts'
import { parseSandboxId } from '../sandboxes/sandbox-id.ts'
import { findSandbox, isLive, type LiveSandboxRow } from '../sandboxes/sandbox-queries.ts'
import { isOlderVersion } from '../daemon/daemon-version.ts'

const FIRST_VERSION = '0.5.0'

/**
 * The running sandbox that a request wants a snapshot or forks of.
 *
 * @param doing - `snapshotted` or `forked`, for the texts of control-plane.md 7.1 and 7.4
 * @throws AppError `not_found`; `conflict` in another state; `invalid_argument` for an old daemon
 */
export async function getSnapshotSource(
  { database }: LifecycleParts,
  teamId: string,
  { givenId, doing }: { readonly givenId: string; readonly doing: 'snapshotted' | 'forked' },
): Promise<LiveSandboxRow> {
  const row = await findSandbox(database.db, teamId, parseSandboxId(givenId))
  if (row === undefined || !isLive(row) || row.state === 'starting') throw sandboxNotFound(givenId)
  if (row.state === 'paused' || row.state === 'resuming') {
    if (doing === 'snapshotted') throw sandboxNotFound(givenId)
    throw new AppError('conflict', `Sandbox '${row.sandbox_id}' is paused and cannot be forked; resume it first`)
  }
  if (row.state !== 'running') throw inTransition(row, doing)
  const version = row.envd_version
  if (version !== null && isOlderVersion(version, FIRST_VERSION)) {
    const message = `sandbox envd version must be at least ${FIRST_VERSION} to create snapshots, current version: ${version}`
    throw new AppError('invalid_argument', message)
  }
  return row
}

/** @param row - a sandbox whose state another request changes */
export function inTransition(row: Pick<LiveSandboxRow, 'sandbox_id' | 'state'>, doing: string): AppError {
  return new AppError('conflict', `Sandbox '${row.sandbox_id}' cannot be ${doing} while in '${row.state}' state`)
}
