import { PathBody } from '@sandyard/dashboard-contract/files'
import { FILE_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { VolumeFileQuery, VolumeParams } from '@sandyard/dashboard-contract/volumes'
import type { AppContext } from '../../context.ts'
import type { ApiInstance, ApiRoute } from '../../http/api-instance.ts'
import { liftBodyDeadline } from '../../http/body-deadline.ts'
import { streamBodies } from '../../http/caps/streamed-bodies.ts'
import { TRANSFER } from '../../volumes/content/forward.ts'
import { getVolume } from '../../volumes/get-volume.ts'
import { registerTeamRoute } from '../dashboard-route.ts'
import { checkPath } from '../relay/files/file-calls.ts'
import { sendContent } from '../relay/files/send-content.ts'
import { callVolume, type OwnVolume } from './call-volume.ts'
import { putVolumeFile } from './put-volume-file.ts'
import { listVolumeFolder, makeVolumeFolder, removeVolumeEntry } from './volume-files.ts'

const reads = { schema: { params: VolumeParams, querystring: VolumeFileQuery }, whileBlocked: false } as const
const writes = { schema: { params: VolumeParams, body: PathBody }, whileBlocked: false } as const

/** The content of volumes, without the token that the interface asks for: the session names the team. */
export const volumeFileRoutes: ApiRoute = (app, ctx) => {
  const services = ctx.fileServices
  registerTeamRoute(app, {
    operation: 'GET /volumes/{volumeId}/files',
    ...reads,
    handle: async ({ team, params, query, signal }) =>
      listVolumeFolder(services, await ownVolume(ctx, team.id, params.volumeId), { path: checkPath(query.path), signal }),
  })
  registerTeamRoute(app, {
    operation: 'POST /volumes/{volumeId}/files/folder',
    ...writes,
    handle: async ({ team, params, body, signal }) =>
      makeVolumeFolder(services, await ownVolume(ctx, team.id, params.volumeId), { path: checkPath(body.path), signal }),
  })
  registerTeamRoute(app, {
    operation: 'POST /volumes/{volumeId}/files/remove',
    ...writes,
    handle: async ({ team, params, body, signal }) => {
      await removeVolumeEntry(services, await ownVolume(ctx, team.id, params.volumeId), { path: checkPath(body.path), signal })
      return undefined
    },
  })
  registerTeamRoute(app, {
    operation: 'GET /volumes/{volumeId}/files/content',
    ...reads,
    handlerTimeout: FILE_TIMEOUT_MS,
    handle: async ({ team, params, query, reply, signal }) => {
      ctx.transfers.take(team.id, reply.raw)
      const path = checkPath(query.path)
      const limits = { idleTimeoutMs: TRANSFER.idleTimeoutMs, timeoutMs: FILE_TIMEOUT_MS }
      const volume = await ownVolume(ctx, team.id, params.volumeId)
      const body = await callVolume(services, volume, { operation: 'GET /file', query: { path }, signal, ...limits })
      const bytes = Number(body.headers['content-length'] ?? NaN)
      return sendContent(reply, { name: path.slice(path.lastIndexOf('/') + 1), body, bytes: Number.isNaN(bytes) ? undefined : bytes })
    },
  })
  void app.register(async (scope) => {
    const raw = scope as unknown as ApiInstance
    // The handler reads the body after it has found the volume.
    streamBodies(raw)
    registerTeamRoute(raw, {
      operation: 'PUT /volumes/{volumeId}/files/content',
      ...reads,
      handlerTimeout: FILE_TIMEOUT_MS,
      handle: async ({ team, params, query, request, reply, signal }) => {
        ctx.transfers.take(team.id, reply.raw)
        const volume = await ownVolume(ctx, team.id, params.volumeId)
        liftBodyDeadline(request.raw)
        const parts = { database: ctx.database, storage: ctx.config.storage, log: request.log }
        return putVolumeFile(services, volume, { ...parts, path: checkPath(query.path), body: request.raw, signal })
      },
    })
  })
}

/** @throws AppError `not_found` for those of other teams */
async function ownVolume({ database }: Pick<AppContext, 'database'>, teamId: string, givenId: string): Promise<OwnVolume> {
  const { volumeId } = await getVolume(database.db, teamId, givenId)
  return { volumeId, teamId }
}
