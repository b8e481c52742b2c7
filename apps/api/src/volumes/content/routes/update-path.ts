import { VolumeEntryChange, VolumeEntryStat, VolumePathQuery } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, ORDINARY } from '../forward.ts'

/** `PATCH /volumecontent/{volumeID}/path` (control-plane.md 15.4): owner, group and mode of an entry, those that are given. */
export const updatePathRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('updateVolumePath', { isBodyOptional: true }),
    schema: {
      params: VolumeParams,
      querystring: VolumePathQuery,
      body: VolumeEntryChange,
      response: { 200: VolumeEntryStat, ...contentErrors(400, 401, 403, 404, 429, 500, 503, 504) },
    },
    handler: (request, reply) => {
      const { uid, gid, mode } = request.body
      return forward(services, { request, reply }, { ...ORDINARY, body: JSON.stringify({ uid, gid, mode }) })
    },
  })
