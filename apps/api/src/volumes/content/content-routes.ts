import type { ApiInstance, ApiRoute } from '../../http/api-instance.ts'
import { authorizeContent } from './authorize-content.ts'
import { sendContentError } from './content-errors.ts'
import type { ContentRoute } from './content-route.ts'
import { createDirRoute } from './routes/create-dir.ts'
import { deletePathRoute } from './routes/delete-path.ts'
import { getFileRoute } from './routes/get-file.ts'
import { getPathRoute } from './routes/get-path.ts'
import { listDirRoute } from './routes/list-dir.ts'
import { putFileRoute } from './routes/put-file.ts'
import { updatePathRoute } from './routes/update-path.ts'

const ROUTES: readonly ContentRoute[] = [
  getPathRoute,
  updatePathRoute,
  deletePathRoute,
  listDirRoute,
  createDirRoute,
  getFileRoute,
  putFileRoute,
]

/**
 * The content of volumes (control-plane.md 15.4). The token of the volume is the only credential, and errors have a form of their own. The files are
 * those of the file service of the volume, so no path is resolved on this host.
 */
export const contentRoutes: ApiRoute = (app, ctx) =>
  void app.register(async (scope: ApiInstance) => {
    scope.setErrorHandler(sendContentError)
    // Before the validation and before the body is read.
    scope.addHook('onRequest', (request) => authorizeContent(ctx.database.db, ctx.view, request))
    for (const register of ROUTES) register(scope, ctx.fileServices, ctx)
  })
