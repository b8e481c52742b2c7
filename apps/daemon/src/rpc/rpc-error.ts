import { Code, ConnectError, type Interceptor, type StreamRequest, type UnaryRequest } from '@connectrpc/connect'
import { createAsyncIterable, type UniversalHandler, type UniversalServerResponse } from '@connectrpc/connect/protocol'
import { codeFromString } from '@connectrpc/connect/protocol-connect'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import { logFileFailure } from '../filesystem/log-file-failure.ts'
import type { DaemonLog } from '../loggers.ts'

/** The library's message prefix for an invalid binary message. */
const UNREADABLE = 'parse binary: '

/** Maps failures to codes (envd.md 6.4). Unexpected ones are logged; clients do not get their text. */
export function mapFailures(log: DaemonLog): Interceptor {
  return (next) => async (request) => {
    const fail = (error: unknown): never => {
      throw toConnectError(error, { log, request })
    }
    try {
      // A unary call with a timeout of 0 does nothing (envd.md 6.6). The library only aborts its signal.
      if (!request.stream && /^0+$/.test(request.header.get('connect-timeout-ms') ?? '')) throw request.signal.reason
      const response = await next(request)
      return response.stream ? { ...response, message: onFailure(response.message, fail) } : response
    } catch (error) {
      return fail(error)
    }
  }
}

/** The same stream with mapped failures. Not a generator, because that costs additional microtasks for each message of output. */
function onFailure<T>(messages: AsyncIterable<T>, fail: (error: unknown) => never): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]()
      return {
        next: () => iterator.next().catch(fail),
        return: async (value) => iterator.return?.(value) ?? { done: true, value },
        async throw(error) {
          if (iterator.throw === undefined) throw error
          return iterator.throw(error)
        },
      }
    },
  }
}

interface FailedCall {
  readonly log: DaemonLog
  readonly request: UnaryRequest | StreamRequest
}

function toConnectError(error: unknown, { log, request }: FailedCall): ConnectError {
  const { service, method, signal } = request
  if (isAppError(error)) {
    if (service.typeName === Filesystem.typeName) logFileFailure(log, `${service.typeName}/${method.name}`, error)
    return new ConnectError(error.message, codeFromString(connectCode(error.kind)))
  }
  if (error instanceof ConnectError) return toClientError(error)
  // After a disconnect of the client reads and other operations fail.
  if (signal.aborted) return new ConnectError('the client is gone', Code.Canceled)
  log.error({ err: error }, 'rpc failed')
  return new ConnectError('internal error', Code.Internal)
}

function toClientError(error: ConnectError): ConnectError {
  if (error.code === Code.DeadlineExceeded) return new ConnectError('context deadline exceeded', Code.DeadlineExceeded)
  if (error.code === Code.Internal && error.rawMessage.startsWith(UNREADABLE))
    return new ConnectError(error.rawMessage, Code.InvalidArgument)
  return error
}

/** The library reports an invalid binary message of a unary call as an internal error, which no interceptor gets. */
export function blameClient(handler: UniversalHandler): UniversalHandler {
  const serve: (...request: Parameters<UniversalHandler>) => Promise<UniversalServerResponse> = async (request) => {
    const response = await handler(request)
    if (response.status !== 500 || handler.method.methodKind !== 'unary' || response.body === undefined) return response
    const bytes = Buffer.concat(await Array.fromAsync(response.body))
    const text = bytes.toString()
    if (!text.includes(`"${UNREADABLE}`)) return { ...response, body: createAsyncIterable([bytes]) }
    const body = Buffer.from(text.replace('"internal"', '"invalid_argument"'))
    const header = new Headers(response.header)
    header.set('content-length', String(body.length))
    return { ...response, status: 400, header, body: createAsyncIterable([body]) }
  }
  return Object.assign(serve, handler)
}
