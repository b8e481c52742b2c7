import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { FastifyRequest } from 'fastify'
import { readCallHeaders } from './call-headers.ts'
import type { CallForm } from './media-type.ts'
import type { RpcDeps, RpcHandler } from './rpc-deps.ts'
import type { ClientStreamHandler } from './rpc-method.ts'
import { serveStream } from './serve-stream.ts'
import { readMessages } from './stream-request.ts'
import type { StreamResponse } from './stream-response.ts'
import { StreamSignal } from './stream-signal.ts'
import { notImplemented } from './unary.ts'

type Handler = ClientStreamHandler<DescMessage, DescMessage>

/** Serves a method that takes a stream and answers once (envd.md 6.1). Without a handler it is `unimplemented`. */
export function serveClientStream(method: DescMethod, handler: Handler | undefined, deps: RpcDeps): RpcHandler {
  async function answer({ raw, basicUser }: FastifyRequest, response: StreamResponse, { codec }: CallForm): Promise<void> {
    const { acceptsGzip, sendsGzip, ...times } = readCallHeaders(raw, 'stream', deps.config.requireConnectProtocolHeader)
    if (acceptsGzip) response.compress()
    if (handler === undefined) throw notImplemented(method)
    using stop = new StreamSignal(response.raw, { timeoutMs: times.timeoutMs, shutdown: deps.shutdown })
    const { signal } = stop
    const result = await handler(readMessages(raw, { input: method.input, codec, sendsGzip }), { signal, basicUser, ...times })
    await response.write(codec.encode(method.output, result))
  }

  return serveStream(deps, answer)
}
