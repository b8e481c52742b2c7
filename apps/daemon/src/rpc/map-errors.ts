import { ConnectError, type Interceptor } from '@connectrpc/connect'
import { codeFromString } from '@connectrpc/connect/protocol-connect'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { DaemonLog } from '../loggers.ts'
import { toUnmarshalError } from './unmarshal-error.ts'

/** Gives failures of RPCs their Connect code, where the library serves them. Unexpected ones are logged; clients do not see their text. */
export function mapErrors(log: DaemonLog): Interceptor {
  function toConnectError(error: unknown, method: string): unknown {
    if (isAppError(error)) return new ConnectError(error.message, codeFromString(connectCode(error.kind)), undefined, undefined, error)
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
