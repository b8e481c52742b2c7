import type { FastifyInstance } from 'fastify'

/** Node closes connections that are idle when a server closes, but leaves those that become so a moment later open for minutes. */
const SWEEP_MS = 10

/** Stops listening and ends every connection: idle ones at once, the others after their answer or after `graceMs`. */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
  const force = setTimeout(() => app.server.closeAllConnections(), graceMs)
  try {
    await app.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(force)
  }
}
