import fp from 'fastify-plugin'

/** Forbids caches to store answers about secrets (control-plane.md 1.3). */
export const secretsCachePlugin = fp(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (/^\/secrets(?:[/?]|$)/.test(request.url)) void reply.header('cache-control', 'no-store')
    })
  },
  { name: 'secrets-cache' },
)
