import { Type } from 'typebox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { UUID_PATTERN } from '@sandyard/kit/ids/uuid'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import type { ApiInstance, ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { liftBodyDeadline } from '../../http/body-deadline.ts'
import { streamBodies } from '../../http/caps/streamed-bodies.ts'
import { checkUploadLink } from '../upload-link.ts'

const Params = Type.Object({ teamID: Type.String({ pattern: UUID_PATTERN }), hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) })
const Query = Type.Object({ expires: Type.String(), signature: Type.String() })

/** Sent as an empty body: JSON would be `null`. */
const Stored = Type.Unsafe<undefined>({ type: 'null', description: 'The archive was stored' })

/** The timeout of the clients (clients.md 2.9). */
const UPLOAD_TIMEOUT_MS = 3_600_000

/**
 * `PUT /uploads/{teamID}/{hash}`: the target of the links of `GET /templates/{templateID}/files/{hash}`. The signature in the link is the
 * only credential. The body is an archive, whatever its content type.
 */
export const uploadFilesRoute: ApiRoute = (app, ctx) =>
  void app.register(async (scope: ApiInstance) => {
    // The handler reads the body after it has checked the link.
    streamBodies(scope)
    scope.route({
      ...operation('uploadTemplateFiles'),
      schema: { params: Params, querystring: Query, response: { 200: Stored, ...errors(400, 403, 429, 500, 503, 504, 507) } },
      handlerTimeout: UPLOAD_TIMEOUT_MS,
      handler: async ({ params, query, headers, raw }, reply) => {
        const key = { teamId: params.teamID, hash: params.hash }
        checkUploadLink(ctx.installation.tokenSeed, key, query)
        noteTeam(key.teamId)
        const sizeBytes = checkLength(headers['content-length'], ctx.config.builds.uploadLimitBytes)
        // A body that is refused without reading keeps the deadline.
        ctx.uploads.assertRoom(key.teamId)
        liftBodyDeadline(raw)
        await ctx.uploads.take(key, { body: raw, sizeBytes })
        return reply.code(200).send(undefined)
      },
    })
  })

function checkLength(value: string | undefined, limitBytes: number): number {
  if (value === undefined) throw new AppError('invalid_argument', 'An upload needs a Content-Length')
  if (Number(value) > limitBytes) throw new UploadTooLargeError(limitBytes)
  return Number(value)
}

class UploadTooLargeError extends Error {
  readonly statusCode = 413

  constructor(limitBytes: number) {
    super(`The upload is too large: the limit is ${limitBytes} bytes, which is the setting SANDYARD_UPLOAD_LIMIT`)
  }
}
