import { Code, ConnectError, type Interceptor } from '@connectrpc/connect'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { DaemonLog } from '../loggers.ts'
import { toUnmarshalError } from './unmarshal-error.ts'

const CODES = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  failed_precondition: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  canceled: Code.Canceled,
  internal: Code.Internal,
  unimplemented: Code.Unimplemented,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
} as const satisfies Record<ReturnType<typeof connectCode>, Code>

/** The one place where failures of RPCs get their Connect code (envd.md 6.4). Unexpected ones are logged; clients do not see their text. */
export function mapErrors(log: DaemonLog): Interceptor {
  function toConnectError(error: unknown, method: string): unknown {
    if (isAppError(error)) return new ConnectError(error.message, CODES[connectCode(error.kind)], undefined, undefined, error)
    if (error instanceof ConnectError) return toUnmarshalError(error) ?? error
    log.error({ err: error, method }, 'rpc failed')
    return error
  }

  return (next) => async (request) => {
    const failed = async (error: unknown): Promise<never> => {
      throw toConnectError(error, request.method.name)
    }
    const response = await next(request).catch(failed)
    if (!response.stream) return response
    return { ...response, message: mapFailures(response.message, failed) }
  }
}

/** Forwards by hand: an async generator in between would cost each message of a stream several turns of the microtask queue. */
function mapFailures<T>(messages: AsyncIterable<T>, failed: (error: unknown) => Promise<never>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]()
      return {
        next: () => iterator.next().catch(failed),
        return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
        throw: async (error) => {
          if (iterator.throw === undefined) throw error
          return iterator.throw(error)
        },
      }
    },
  }
}
