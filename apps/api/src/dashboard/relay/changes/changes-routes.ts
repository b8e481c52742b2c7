import { FileParams, PathBody } from '@sandyard/dashboard-contract/files'
import {
  CHANGES_AT_ONCE,
  CHANGES_TIMEOUT_MS,
  CHANGES_WAITING,
  MAX_CHANGES_BYTES,
  MAX_ORIGINAL_BYTES,
  ORIGINAL_TIMEOUT_MS,
} from '@sandyard/dashboard-contract/limits'
import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { checkPath } from '../files/file-calls.ts'
import { sendContent } from '../files/send-content.ts'
import { getFilesRef } from './get-files-ref.ts'
import { toChanges } from './to-changes.ts'
import { toContent } from './to-content.ts'

/** What has changed in a sandbox since its create. The engine answers, and nothing runs inside. A team has its own turns, since a list or a file costs the engine some work. */
export const changesRoutes: ApiRoute = (app, { database, runtime }) => {
  const queue = new FairQueue({
    perOwner: CHANGES_AT_ONCE.ofTeam,
    inAll: CHANGES_AT_ONCE.inAll,
    waitingPerOwner: CHANGES_WAITING.ofTeam,
    waitingInAll: CHANGES_WAITING.inAll,
    onFull: () =>
      new AppError('resource_exhausted', 'Too many changes are being read: try again soon', { headers: { 'retry-after': '1' } }),
  })
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/changes',
    schema: { params: FileParams },
    whileBlocked: false,
    handle: ({ team, params, signal }) =>
      queue.run(team.id, async () => {
        signal.throwIfAborted()
        const ref = await getFilesRef(database.db, team.id, params.sandboxId)
        const reading = { what: 'Listing the changes', timeoutMs: CHANGES_TIMEOUT_MS, signal }
        return toChanges(await within(reading, (ending) => runtime.changes(ref, MAX_CHANGES_BYTES, ending)))
      }),
  })
  registerTeamRoute(app, {
    operation: 'POST /sandboxes/{sandboxId}/changes/original',
    schema: { params: FileParams, body: PathBody },
    whileBlocked: false,
    isRead: true,
    handle: async ({ team, params, body, reply, signal }) => {
      const path = checkPath(body.path)
      const content = await queue.run(team.id, async () => {
        signal.throwIfAborted()
        const ref = await getFilesRef(database.db, team.id, params.sandboxId)
        const request = { path, maxBytes: MAX_ORIGINAL_BYTES }
        // The container is removed before the turn ends, also when the client has gone.
        const reading = { what: 'Reading the original file', timeoutMs: ORIGINAL_TIMEOUT_MS, graceMs: ORIGINAL_TIMEOUT_MS, signal }
        return toContent(await within(reading, (ending) => runtime.readOriginal(ref, request, ending)))
      })
      return sendContent(reply, { name: path.slice(path.lastIndexOf('/') + 1), body: content, bytes: content.length })
    },
  })
}
