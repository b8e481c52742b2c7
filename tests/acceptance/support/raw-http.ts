import { once } from 'node:events'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface RawRequest {
  readonly method?: string
  /** Sent unchanged: neither decoded nor normalised. */
  readonly path: string
  /** May set another `host`. */
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** One HTTP request without a client library. */
export async function rawRequest(base: string, options: RawRequest): Promise<RawAnswer> {
  const response = await rawResponse(base, options)
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}

/** Like {@link rawRequest}, but the caller reads the body. */
export async function rawResponse(base: string, options: RawRequest): Promise<IncomingMessage> {
  const { hostname, port } = new URL(base)
  const { method = 'GET', path, headers = {}, body } = options
  const call = request({ hostname, port, method, path, headers, agent: false, signal: AbortSignal.timeout(60_000) })
  call.end(body)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return response
}
