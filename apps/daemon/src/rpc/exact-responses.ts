import type { ConnectRouter } from '@connectrpc/connect'
import { unmarshalMessage } from './unmarshal-error.ts'

type Handler = ConnectRouter['handlers'][number]
type Response = Awaited<ReturnType<Handler>>

const UNARY_TYPES = 'application/json, application/json; charset=utf-8, application/proto'
const STREAM_TYPES = 'application/connect+json, application/connect+json; charset=utf-8, application/connect+proto'

/**
 * Corrects what Connect's handlers answer by themselves, before any code of ours runs: a wrong media type names the right ones (envd.md 6.1),
 * and a unary request that cannot be read is `invalid_argument` in the wire's words (envd.md 6.4).
 */
export function answerExactly(router: ConnectRouter): void {
  for (const [index, handler] of router.handlers.entries()) {
    const unary = handler.method.methodKind === 'unary'
    const exact: typeof handler = Object.assign(async (request: Parameters<Handler>[0]) => {
      const response = await handler(request)
      if (response.status === 415) return { ...response, header: new Headers({ 'Accept-Post': unary ? UNARY_TYPES : STREAM_TYPES }) }
      return unary && (response.status === 400 || response.status === 500) ? rewordUnmarshalError(response) : response
    }, handler)
    router.handlers[index] = exact
  }
}

async function rewordUnmarshalError(response: Response): Promise<Response> {
  const parts = await Array.fromAsync(response.body ?? [])
  const asItWas = { ...response, body: replay(parts) }
  if (response.header?.has('content-encoding') === true) return asItWas
  const error = JSON.parse(Buffer.concat(parts).toString()) as { message?: string }
  const message = unmarshalMessage(error.message ?? '')
  if (message === undefined) return asItWas
  const body = Buffer.from(JSON.stringify({ code: 'invalid_argument', message }))
  const header = new Headers(response.header)
  header.set('content-length', String(body.length))
  return { ...response, status: 400, header, body: replay([body]) }
}

async function* replay(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}
