import { NewVolumeEntryQuery, VolumeEntryStat } from '@sandyard/api-contract/volumes/volume-content'
import type { ApiInstance } from '../../../http/api-instance.ts'
import { liftBodyDeadline } from '../../../http/body-deadline.ts'
import { streamBodies } from '../../../http/caps/streamed-bodies.ts'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { StoredUpload } from '../../stored-upload.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, TRANSFER } from '../forward.ts'

/** `PUT /volumecontent/{volumeID}/file` (control-plane.md 15.4): the body is the file, whatever its content type. */
export const putFileRoute: ContentRoute = (scope, services, ctx) =>
  void scope.register(async (inner: ApiInstance) => {
    // The body is passed on unread, once the request is authorized.
    streamBodies(inner)
    inner.route({
      ...operation('putVolumeFile'),
      schema: {
        params: VolumeParams,
        querystring: NewVolumeEntryQuery,
        response: { 201: VolumeEntryStat, ...contentErrors(400, 401, 403, 404, 409, 429, 500, 503, 504, 507) },
      },
      handlerTimeout: TRANSFER.timeoutMs,
      handler: async (request, reply) => {
        const { raw, facts, params, log } = request
        const declared = raw.headers['content-length']
        const sizeBytes = declared === undefined ? undefined : Number(declared)
        const target = { teamId: facts.teamId ?? '', volumeId: params.volumeID, sizeBytes }
        await using upload = await StoredUpload.begin({ database: ctx.database, storage: ctx.config.storage, log }, target)
        liftBodyDeadline(raw)
        const admit = sizeBytes === undefined ? (bytes: number) => upload.admit(bytes) : undefined
        await forward(services, { request, reply }, { ...TRANSFER, body: raw, admit, onStored: () => upload.stored() })
      },
    })
  })
