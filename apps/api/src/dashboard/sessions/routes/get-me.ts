import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerSessionRoute } from '../../dashboard-route.ts'
import { ownOrigin } from '../../own-origin.ts'
import { addressOf } from '../address-of.ts'
import { toMe } from '../me-view.ts'

/** `GET /me` */
export const getMeRoute: ApiRoute = (app, ctx) => {
  registerSessionRoute(app, {
    operation: 'GET /me',
    schema: {},
    handle: ({ session, request }) => toMe(ctx, session, ownOrigin(request, addressOf(ctx.config))),
  })
}
