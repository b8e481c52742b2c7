import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'

/** Refuses what Connect's handlers would read differently from the wire (envd.md 6.3, 6.6). Runs before a request's body is read. */
export function requestGate(context: HandlerContext): void {
  const headers = context.requestHeader
  const timeout = headers.get('connect-timeout-ms')
  if (timeout !== null && !/^\d{1,10}$/.test(timeout)) {
    const fault = /^\d+$/.test(timeout) ? 'has >10 digits' : 'is not a number of milliseconds'
    throw new ConnectError(`parse timeout: "${timeout}" ${fault}`, Code.InvalidArgument)
  }
  const empty = !headers.has('transfer-encoding') && Number(headers.get('content-length') ?? 0) === 0
  if (empty && context.method.methodKind === 'unary' && /^application\/json\b/i.test(headers.get('content-type') ?? '')) {
    throw new ConnectError('unmarshal message: zero-length payload is not a valid JSON object', Code.InvalidArgument)
  }
}
