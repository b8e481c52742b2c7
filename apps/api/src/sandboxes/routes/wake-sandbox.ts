import { proxyWakeKey } from '@sandyard/db/sandbox-token'
import { isSameText } from '@sandyard/kit/secrets/same-text'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ApiRoute } from '../../http/api-instance.ts'
import { wakeSandbox } from '../lifecycle/wake-sandbox.ts'
import { SandboxParams } from './sandbox-params.ts'

/**
 * `POST /internal/sandboxes/{sandboxID}/wake`: the proxy asks for a paused sandbox that has traffic (control-plane.md 19.6). It is not part of
 * the interface; only a proxy of this installation has the secret.
 */
export const wakeSandboxRoute: ApiRoute = (app, ctx) => {
  const expected = `Bearer ${proxyWakeKey(ctx.installation.tokenSeed)}`
  app.route({
    method: 'POST',
    url: '/internal/sandboxes/:sandboxID/wake',
    schema: { params: SandboxParams, hide: true },
    config: { guardsItself: true, isForProxies: true },
    onRequest: async ({ headers }) => {
      if (!isSameText(headers.authorization ?? '', expected)) throw new AppError('unauthenticated', 'You are not authenticated')
    },
    handler: async ({ params }) => {
      await wakeSandbox(ctx.sandboxes, params.sandboxID)
      return {}
    },
  })
}
