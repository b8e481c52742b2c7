import { VolumePathQuery } from '@sandyard/api-contract/volumes/volume-content'
import { Nothing } from '../../../http/nothing.ts'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, ORDINARY } from '../forward.ts'

/** `DELETE /volumecontent/{volumeID}/path` (control-plane.md 15.4): an entry with all that is below it. */
export const deletePathRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('deleteVolumePath'),
    schema: {
      params: VolumeParams,
      querystring: VolumePathQuery,
      response: { 204: Nothing, ...contentErrors(400, 401, 403, 404, 429, 500, 503, 504) },
    },
    handler: (request, reply) => forward(services, { request, reply }, ORDINARY),
  })
