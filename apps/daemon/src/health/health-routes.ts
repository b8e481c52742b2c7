import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'

/** `/health` and `/envs` (envd.md 5.2, 5.4). Neither may be kept by a cache. */
export function registerHealthRoutes(app: FastifyInstance, { state }: DaemonContext): void {
  app.get('/health', async (_request, reply) => reply.code(204).header('Cache-Control', 'no-store').send())

  app.get('/envs', async (_request, reply) => sendJson(reply.header('Cache-Control', 'no-store'), state.variables))
}

/** What upstream reports when it has no control groups to freeze. */
const NOTHING_FROZEN = {
  mode: 'legacy',
  visited: 0,
  allowlisted: 0,
  truncated: false,
  preFrozen: 0,
  requested: 2,
  frozen: 0,
  notFrozen: 0,
  failed: 0,
  unobservable: 2,
  sweepMs: 0,
  waitMs: 0,
}
const NOTHING_COLLAPSED = { regions: 0, chunks: 0, collapsed: 0, alreadyHuge: 0, skipped: 0, elapsedMs: 0 }

/**
 * The pause-related routes of a control plane (envd.md 5.9). They do nothing: the engine freezes a container from outside, and a sandbox
 * must never freeze file systems that it shares with the host.
 */
export function registerControlRoutes(app: FastifyInstance): void {
  app.post('/freeze', async (request, reply) => {
    const { maxWaitMs } = request.query as { maxWaitMs?: string }
    if (!(Number(maxWaitMs) > 0)) return reply.code(204).send()
    return sendJson(reply.header('Cache-Control', 'no-store'), NOTHING_FROZEN)
  })
  app.post('/collapse', async (_request, reply) => sendJson(reply.header('Cache-Control', 'no-store'), NOTHING_COLLAPSED))
  for (const path of ['/unfreeze', '/fsfreeze', '/fsthaw']) {
    app.post(path, async (_request, reply) => reply.code(204).header('Cache-Control', 'no-store').send())
  }
}
