import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { create, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape, toJsonString } from '@bufbuild/protobuf'
import { codeFromString, codeToHttpStatus } from '@connectrpc/connect/protocol-connect'
import { Code } from '@connectrpc/connect'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { jsonOptions, writeSizesAsNumbers } from './json-codec.ts'
import { toJsonError } from './json-error.ts'
import type { PlainDeps, RpcHandler } from './plain-deps.ts'
import { readPlainMessage } from './plain-request.ts'

export interface UnaryCall {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  readonly basicUser: string | undefined
}

export interface PlainUnaryMethod<I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>
  readonly run: (request: MessageShape<I>, call: UnaryCall) => Promise<MessageInitShape<O>> | MessageInitShape<O>
}

/** Below this size compression costs more than it saves. */
const COMPRESS_FROM_BYTES = 1024

/**
 * Serves a unary call in the form that SDKs use without the layers of the library. Everything else is the library's, as is what cannot
 * be read. Such calls have no deadline: they are short (envd.md 6.6).
 */
export function plainUnary<I extends DescMessage, O extends DescMessage>(
  { method, run }: PlainUnaryMethod<I, O>,
  { log }: PlainDeps,
  library: RpcHandler,
): RpcHandler {
  return async (request, reply) => {
    const message = await readPlainMessage(request, 'unary', method.input)
    if (message === undefined) return library(request, reply)
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort('the client is gone'))
    try {
      const answer = create(method.output, await run(message, { signal: gone.signal, basicUser: request.basicUser }))
      return await send({ request, reply }, 200, writeSizesAsNumbers(toJsonString(method.output, answer, jsonOptions)))
    } catch (error) {
      const body = toJsonError(error, log)
      return send({ request, reply }, codeToHttpStatus(codeFromString(body.code) ?? Code.Internal), JSON.stringify(body))
    }
  }
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function send({ request, reply }: Exchange, status: number, json: string): Promise<FastifyReply> {
  const body = Buffer.from(json)
  reply.code(status).header('content-type', 'application/json')
  const accepts = /(?:^|[\s,])gzip(?:$|[\s,;])/.test(request.headers['accept-encoding'] ?? '')
  if (!accepts || body.length < COMPRESS_FROM_BYTES) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(await promisify(gzip)(body))
}
