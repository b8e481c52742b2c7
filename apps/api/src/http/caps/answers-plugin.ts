import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { MemoryQuota } from './memory-quota.ts'
import type { CountRefused } from './request-cap.ts'
import { requestOwner } from './request-owner.ts'

/** Smaller answers fit into the buffers of the kernel. */
const LARGE_BYTES = 64 * 1024

/** A client that takes nothing of its answer for so long does not get the rest. */
const STALLED_MS = 30_000

export interface AnswersPluginOptions {
  readonly countRefused: CountRefused
  /** Default: 30 s. */
  readonly stalledMs?: number | undefined
}

/**
 * Bounds what clients can keep in memory that do not read their answers. Large answers of requests that only read count until they have been sent; those
 * above the cap are refused. A connection whose answer does not move is closed.
 */
export const answersPlugin = fp<AnswersPluginOptions>(
  async (app, { countRefused, stalledMs = STALLED_MS }) => {
    const message = 'Too many large answers are being sent: read them first'
    const quota = new MemoryQuota({ cap: 'answer_memory', message, countRefused })
    app.addHook('onSend', async (request, reply, payload) => {
      watchProgress(reply.raw, stalledMs)
      const bytes = request.method === 'GET' ? lengthOf(payload) : 0
      if (bytes < LARGE_BYTES || reply.raw.destroyed) return
      const owner = requestOwner(request)
      quota.take(owner, bytes)
      reply.raw.once('close', () => quota.release(owner, bytes))
    })
  },
  { name: 'answers' },
)

/** Streams have the back-pressure of their socket. */
function lengthOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
}

/** Closes the connection of an answer of which nothing is taken for `stalledMs`. */
function watchProgress(answer: ServerResponse, stalledMs: number): void {
  const { socket } = answer
  // An injected request has no connection.
  if (!(socket instanceof Socket)) return
  // Node does not report it while bytes are taken, and sets that of idle connections when the answer has been sent.
  answer.setTimeout(stalledMs, () => {
    if (socket.writableLength > 0) socket.destroy()
  })
  // A pipelined request that is served next has no answer yet.
  answer.prependOnceListener('finish', () => socket.setTimeout(0))
}
