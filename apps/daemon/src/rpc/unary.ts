import type { OutgoingHttpHeaders } from 'node:http'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type CallHeaders, readCallHeaders } from './call-headers.ts'
import { compress, decompress, GZIP } from './compression.ts'
import { encodeListing, findLongListing } from './encode-listing.ts'
import { type CallForm, readForm } from './media-type.ts'
import { maxBytesOf } from './message-limit.ts'
import { isCut, readRequest } from './request-body.ts'
import { refuseForm, type RpcDeps, type RpcHandler } from './rpc-deps.ts'
import { deadlineExceeded, RPC_STATUS, toRpcError } from './rpc-error.ts'
import type { UnaryHandler } from './rpc-method.ts'
import type { UnaryCall } from './stream-call.ts'

/** Serves a unary method (envd.md 6.1, 6.4). Without a handler it is `unimplemented`. */
export function serveUnary(
  method: DescMethod,
  handler: UnaryHandler<DescMessage, DescMessage> | undefined,
  { log, config }: RpcDeps,
): RpcHandler {
  async function answer(request: FastifyRequest, reply: FastifyReply, form: CallForm): Promise<FastifyReply> {
    const headers = readCallHeaders(request.raw, 'unary', config.requireConnectProtocolHeader)
    const maxBytes = maxBytesOf(method.input)
    const body = await readRequest(request.raw, maxBytes)
    if (headers.timeoutMs === 0) throw deadlineExceeded()
    const message = form.codec.decode(method.input, headers.sendsGzip ? await decompress(body, maxBytes) : body)
    if (handler === undefined) throw notImplemented(method)
    const result = await handler(message, new Call(request, reply))
    const listing = findLongListing(method.output, result)
    const bytes = listing === undefined ? form.codec.encode(method.output, result) : await encodeListing(form.codec, listing)
    return send(reply.header('Content-Type', form.contentType), bytes, headers)
  }

  return async (request, reply) => {
    const form = readForm('unary', request.headers['content-type'])
    if (form === undefined) return refuseForm(reply, 'unary')
    reply.header('Accept-Encoding', GZIP)
    try {
      return await answer(request, reply, form)
    } catch (error) {
      if (isCut(request.raw)) return reply.hijack()
      const body = toRpcError(error, log)
      reply.code(RPC_STATUS[body.code]).header('Content-Type', 'application/json')
      return write(reply, Buffer.from(JSON.stringify(body)))
    }
  }
}

/** For a method that the protocol gets later: all that it has by now are served. */
export function notImplemented({ parent, name }: DescMethod): AppError {
  return new AppError('unimplemented', `${parent.typeName}.${name} is not implemented`)
}

async function send(reply: FastifyReply, body: Buffer, { acceptsGzip }: CallHeaders): Promise<FastifyReply> {
  const compressed = acceptsGzip ? await compress(body) : undefined
  if (compressed !== undefined) reply.header('Content-Encoding', GZIP)
  return write(reply, compressed ?? body)
}

/** Straight to the connection: Fastify's own way to an answer takes longer than most calls. */
function write(reply: FastifyReply, body: Buffer): FastifyReply {
  reply.header('Content-Length', body.length).hijack()
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  reply.raw.end(body)
  return reply
}

/** Most handlers are done before they would look at the signal, so it is made when one does. */
class Call implements UnaryCall {
  readonly basicUser: string | undefined
  readonly #reply: FastifyReply
  #gone: AbortController | undefined

  constructor({ basicUser }: FastifyRequest, reply: FastifyReply) {
    this.basicUser = basicUser
    this.#reply = reply
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController()
      if (this.#reply.raw.destroyed) gone.abort('the client is gone')
      this.#reply.raw.once('close', () => gone.abort('the client is gone'))
      this.#gone = gone
    }
    return this.#gone.signal
  }

  get hangUp(): AbortSignal {
    const { raw } = this.#reply
    const { socket } = raw
    const gone = new AbortController()
    const abort = (): void => {
      socket?.off('end', abort)
      gone.abort('the client is gone')
    }
    socket?.once('end', abort)
    raw.once('close', abort)
    if (raw.destroyed || socket?.readableEnded === true) abort()
    return gone.signal
  }
}
