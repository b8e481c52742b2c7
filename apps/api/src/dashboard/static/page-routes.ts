import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { AppContext } from '../../context.ts'
import { sendErrorReply, toNoRouteReply } from '../../http/error-reply.ts'
import { pagePolicy } from '../security-headers.ts'
import { Page } from './page.ts'

const YEAR_SECONDS = 365 * 24 * 3600
const HOUR_SECONDS = 3600
/** The names of assets have a hash of their content. */
const ASSET = /^assets\/[\w.-]+$/
const PLAIN_FILES: ReadonlySet<string> = new Set(['favicon.svg'])

/** The built page: its files, and `index.html` for every other path, because the page has its own routes. */
export const pageRoutes: FastifyPluginAsync<{ readonly ctx: AppContext }> = async (app, { ctx }) => {
  const { dist } = ctx.config.dashboard
  const page = new Page(dist)
  await app.register(fastifyStatic, { root: dist, serve: false, preCompressed: true, cacheControl: false })

  const options = { config: { guardsItself: true }, schema: { hide: true } }
  app.get('/', options, async (request, reply) => {
    // Relative addresses and the scope of the page begin at the slash.
    if (!request.url.split('?', 1)[0]?.endsWith('/')) return reply.redirect('/dashboard/', 308)
    return sendPage(page, reply)
  })
  app.get<{ Params: { '*': string } }>('/*', options, async (request, reply) => {
    const path = request.params['*']
    if (ASSET.test(path)) {
      return reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`).sendFile(path)
    }
    if (PLAIN_FILES.has(path)) return reply.header('cache-control', `public, max-age=${HOUR_SECONDS}`).sendFile(path)
    if (path === 'api' || path.startsWith('api/')) return sendErrorReply(reply, toNoRouteReply(request))
    return sendPage(page, reply)
  })
}

async function sendPage(page: Page, reply: FastifyReply): Promise<FastifyReply> {
  const { html, nonce } = await page.render()
  return reply
    .headers({ 'cache-control': 'no-store', 'content-security-policy': pagePolicy(nonce) })
    .type('text/html; charset=utf-8')
    .send(html)
}
