import { Type } from 'typebox'
import { VolumePathQuery } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, TRANSFER } from '../forward.ts'

const Bytes = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' })
/** Of these two answers, as streams, nothing is serialised. */
const binary = (description: string) => ({ description, content: { 'application/octet-stream': { schema: Bytes } } })

/** `GET /volumecontent/{volumeID}/file` (control-plane.md 15.4). `Range` with one range is ours. */
export const getFileRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('getVolumeFile'),
    schema: {
      params: VolumeParams,
      querystring: VolumePathQuery,
      response: {
        200: binary('The bytes of the file'),
        206: binary('The bytes of the range'),
        ...contentErrors(400, 401, 403, 404, 416, 429, 500, 503, 504),
      },
    },
    handlerTimeout: TRANSFER.timeoutMs,
    handler: (request, reply) => forward(services, { request, reply }, TRANSFER),
  })
