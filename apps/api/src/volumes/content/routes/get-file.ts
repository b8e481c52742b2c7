import { Type } from 'typebox'
import { VolumePathQuery } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, TRANSFER } from '../forward.ts'

const Bytes = Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The bytes of the file' })
const Part = Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The bytes of the range' })

/** `GET /volumecontent/{volumeID}/file` (control-plane.md 15.4). `Range` with one range is ours. */
export const getFileRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('getVolumeFile'),
    schema: {
      params: VolumeParams,
      querystring: VolumePathQuery,
      produces: ['application/octet-stream'],
      response: { 200: Bytes, 206: Part, ...contentErrors(400, 401, 403, 404, 416, 429, 500, 503, 504) },
    },
    handlerTimeout: TRANSFER.timeoutMs,
    handler: (request, reply) => forward(services, { request, reply }, TRANSFER),
  })
