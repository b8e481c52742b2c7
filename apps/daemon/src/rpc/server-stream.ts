import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import type { FastifyRequest } from 'fastify'
import { readCallHeaders } from './call-headers.ts'
import type { Codec } from './codec.ts'
import type { CallForm } from './media-type.ts'
import type { RpcDeps, RpcHandler } from './rpc-deps.ts'
import type { ServerStreamHandler } from './rpc-method.ts'
import { serveStream } from './serve-stream.ts'
import { readOnlyMessage } from './stream-request.ts'
import type { StreamResponse } from './stream-response.ts'
import { StreamSignal } from './stream-signal.ts'
import { notImplemented } from './unary.ts'

type Handler = ServerStreamHandler<DescMessage, DescMessage, unknown>

/** Serves a method that answers with a stream (envd.md 6.3). Without a handler it is `unimplemented`. */
export function serveServerStream(method: DescMethod, handler: Handler | undefined, deps: RpcDeps): RpcHandler {
  async function answer({ raw, basicUser }: FastifyRequest, response: StreamResponse, form: CallForm): Promise<void> {
    const { acceptsGzip, ...call } = readCallHeaders(raw, 'stream', deps.config.requireConnectProtocolHeader)
    if (acceptsGzip) response.compress()
    const message = await readOnlyMessage(raw, { input: method.input, codec: form.codec, sendsGzip: call.sendsGzip })
    if (handler === undefined) throw notImplemented(method)
    using stop = new StreamSignal(response.raw, { timeoutMs: call.timeoutMs, shutdown: deps.shutdown })
    const write = payloadWriter(method, handler, form.codec)
    const { timeoutMs, keepaliveMs } = call
    for await (const event of await handler.run(message, { signal: stop.signal, basicUser, timeoutMs, keepaliveMs })) {
      const written = response.write(write(event))
      if (written !== undefined) await written
    }
  }

  return serveStream(deps, answer)
}

function payloadWriter({ output }: DescMethod, handler: Handler, codec: Codec): (event: unknown) => string | Buffer {
  if (codec.name === 'json' && handler.toJson !== undefined) return (event) => handler.toJson?.(event) ?? ''
  const encode = (event: unknown): Buffer => codec.encode(output, handler.toMessage(event))
  return codec.name === 'json' ? encode : (event) => handler.toBinary?.(event) ?? encode(event)
}
