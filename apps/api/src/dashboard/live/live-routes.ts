import websocket from '@fastify/websocket'
import type { FastifyRequest } from 'fastify'
import { RELEASE } from '@sandyard/kit/config/release'
import { LIVE_CLOSE, MAX_FRAME_BYTES } from '@sandyard/dashboard-contract/limits'
import { CHANNEL_BYTES } from '@sandyard/dashboard-contract/live/frames'
import type { AppContext } from '../../context.ts'
import type { ApiInstance, ApiRoute } from '../../http/api-instance.ts'
import { Page } from '../static/page.ts'
import { terminalRoutes } from '../terminals/terminal-routes.ts'
import { LiveParts } from './live-parts.ts'

/** `GET /api/live`, and what else needs the shells that this server keeps. */
const liveRoute: ApiRoute = (app, ctx) => {
  const live = new LiveParts(ctx)
  app.addHook('onClose', () => live[Symbol.asyncDispose]())
  terminalRoutes(app, ctx, live.terminals)
  void app.register((scope) => registerSocket(scope as unknown as ApiInstance, ctx, live))
}

export const liveRoutes: readonly ApiRoute[] = [liveRoute]

async function registerSocket(scope: ApiInstance, ctx: AppContext, { hub }: LiveParts): Promise<void> {
  const page = new Page(ctx.config.dashboard.dist)
  const assets = new WeakMap<FastifyRequest, string>()
  ctx.drain.onBegin(() => hub.closeAll())
  await scope.register(websocket, {
    options: { maxPayload: MAX_FRAME_BYTES + CHANNEL_BYTES, perMessageDeflate: false },
    errorHandler: (_err, socket) => socket.terminate(),
    preClose: (done: () => void) => {
      hub.closeAll()
      done()
    },
  })
  scope.route({
    method: 'GET',
    url: '/api/live',
    config: { guardsItself: true },
    websocket: true,
    // Nothing else ends the connection of a refused upgrade: Node does not count it any more.
    onResponse: async ({ headers, raw }) => {
      if (headers.upgrade !== undefined) raw.socket.destroy()
    },
    // Frames of the page are lost unless somebody listens at once, so this is read before.
    preHandler: async (request) => void assets.set(request, await page.assets()),
    handler: (socket, request) => {
      const { dashboardSession: session } = request
      // The page cannot see the status of a refused upgrade.
      if (session === null) return socket.close(LIVE_CLOSE.sessionEnded, 'not logged in')
      hub.accept(socket, { session, clientAddress: request.ip, server: RELEASE, assets: assets.get(request) ?? '' })
    },
  })
}

/** Node takes every other request with the header `Upgrade` as an ordinary one. */
export function isLiveUpgrade({ url = '' }: { readonly url?: string | undefined }): boolean {
  return url.split('?', 1)[0] === '/dashboard/api/live'
}
