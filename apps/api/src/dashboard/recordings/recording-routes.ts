import { Readable } from 'node:stream'
import { FILE_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import { RecordingParams } from '@sandyard/dashboard-contract/timeline'
import type { ApiRoute } from '../../http/api-instance.ts'
import { isSandboxOfTeam } from '../../sandboxes/events/describe-events.ts'
import { sandboxNotFound } from '../../sandboxes/sandbox-errors.ts'
import { registerTeamRoute } from '../dashboard-route.ts'
import { sendContent } from '../relay/files/send-content.ts'
import { TransferSlots } from '../relay/files/transfer-slots.ts'
import { deleteRecording, getRecordingBytes, listRecordings, readParts } from './read-recordings.ts'

/** Recordings of terminals. They stay readable after the end of their sandbox, also when the history has forgotten it. */
export const recordingRoutes: ApiRoute = (app, { database }) => {
  const slots = new TransferSlots()
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/recordings',
    schema: { params: SandboxParams },
    whileBlocked: true,
    handle: async ({ team, params: { sandboxId } }) => {
      const data = await listRecordings(database.db, team.id, sandboxId)
      if (data.length === 0 && !(await isSandboxOfTeam(database.db, team.id, sandboxId))) throw sandboxNotFound(sandboxId)
      return { data }
    },
  })
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/recordings/{recordingId}',
    schema: { params: RecordingParams },
    whileBlocked: true,
    handlerTimeout: FILE_TIMEOUT_MS,
    handle: async ({ team, params, reply }) => {
      slots.take(team.id, reply.raw)
      const { db } = database
      const bytes = await getRecordingBytes(db, { teamId: team.id, ...params })
      const body = Readable.from(readParts(db, params.recordingId, bytes), { objectMode: false })
      return sendContent(reply, { name: `${params.recordingId}.cast`, body, bytes })
    },
  })
  registerTeamRoute(app, {
    operation: 'DELETE /sandboxes/{sandboxId}/recordings/{recordingId}',
    schema: { params: RecordingParams },
    whileBlocked: true,
    handle: async ({ team, params }) => {
      await deleteRecording(database.db, { teamId: team.id, ...params })
      return undefined
    },
  })
}
