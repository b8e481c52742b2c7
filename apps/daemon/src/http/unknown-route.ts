import type { FastifyInstance, FastifyReply } from 'fastify'

/** 404 for a path that no route has, 405 with `Allow` and no body for one that other methods have (envd.md 2.2). Goes before the routes. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const methodsByPath = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), ...[method].flat()])
  })
  // A path is what was sent: the router decodes it and drops a fragment, upstream's does not.
  app.addHook('onRequest', ({ url }, reply, done) => (/[%#]/.test(pathOf(url)) ? void answerNotFound(reply) : done()))
  app.setNotFoundHandler(async (request, reply) => {
    const methods = methodsByPath.get(pathOf(request.url))
    if (methods !== undefined) return reply.code(405).header('Allow', methods.join(', ')).send()
    return answerNotFound(reply)
  })
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

function answerNotFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('Content-Type', 'text/plain; charset=utf-8')
    .header('X-Content-Type-Options', 'nosniff')
    .send('404 page not found\n')
}
