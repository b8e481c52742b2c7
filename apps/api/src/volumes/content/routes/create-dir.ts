import { NewVolumeEntryQuery, VolumeEntryStat } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, ORDINARY } from '../forward.ts'

/** `POST /volumecontent/{volumeID}/dir` (control-plane.md 15.4): makes a directory. A body is ignored. */
export const createDirRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('createVolumeDir'),
    schema: {
      params: VolumeParams,
      querystring: NewVolumeEntryQuery,
      response: { 201: VolumeEntryStat, ...contentErrors(400, 401, 403, 404, 409, 429, 500, 503, 504, 507) },
    },
    handler: (request, reply) => forward(services, { request, reply }, { ...ORDINARY, body: '' }),
  })
