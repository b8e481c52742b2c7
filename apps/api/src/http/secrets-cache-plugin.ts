import fp from 'fastify-plugin'

/** Nothing that is said of secrets is kept by anyone on the way (control-plane.md 1.3). */
export const secretsCachePlugin = fp(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (/^\/secrets(?:[/?]|$)/.test(request.url)) void reply.header('cache-control', 'no-store')
    })
  },
  { name: 'secrets-cache' },
)
