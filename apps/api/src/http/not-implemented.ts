import { OPERATIONS } from '@sandyard/api-contract/operations'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiInstance } from './api-instance.ts'
import { errors, operation, toUrl } from './operation.ts'

/** Answers 501 for every operation without a route, after the authentication. */
export function registerNotImplemented(app: ApiInstance): void {
  for (const { id, method, path } of OPERATIONS) {
    if (app.hasRoute({ method, url: toUrl(path) })) continue
    app.route({
      ...operation(id),
      schema: { response: errors(401, 501) },
      handler: async () => {
        throw new AppError('unimplemented', `This server does not implement ${method} ${path} yet.`)
      },
    })
  }
}
