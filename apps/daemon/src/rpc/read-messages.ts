import { ConnectError } from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import { AppError } from '@sandyard/kit/errors/app-error'
import { toUnmarshalError } from './unmarshal-error.ts'

/** The messages of a client stream. What is wrong with the stream or with one of them is a failure of reading it (envd.md 8.8, StreamInput). */
export async function* readMessages<T>(messages: AsyncIterable<T>, what: string): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    const { code, rawMessage } = toUnmarshalError(error) ?? error
    throw new AppError('unknown', `error streaming ${what}: ${codeToString(code)}: ${rawMessage}`, { cause: error })
  }
}
