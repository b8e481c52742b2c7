import type { StreamInputRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import type { StreamCall } from '../rpc/stream-call.ts'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'
import { writeInput } from './send-input.ts'

/**
 * StreamInput (envd.md 8.8): writes to one process in the order of the messages; a later start goes on with another one. The end of the
 * messages is not the end of the input. What was written before a failure stays written.
 */
export async function streamInput(
  messages: AsyncIterable<StreamInputRequest>,
  { signal }: Pick<StreamCall, 'signal'>,
  processes: ProcessTable,
): Promise<Record<string, never>> {
  let target: ManagedProcess | undefined
  for await (const { event } of rewordFailures(messages)) {
    switch (event.case) {
      case 'start':
        target = processes.get(event.value.process)
        break
      case 'data':
        if (target === undefined) throw new AppError('invalid_argument', 'the first message must be the start')
        await writeInput(event.value.input, target, signal)
        break
      case 'keepalive':
        break
      case undefined:
        throw new AppError('unimplemented', 'invalid event type <nil>')
    }
  }
  return {}
}

/** What is wrong with the stream itself or with one of its messages is a failure of reading it. */
async function* rewordFailures<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (error) {
    if (!isAppError(error)) throw error
    throw new AppError('unknown', `error streaming input: ${connectCode(error.kind)}: ${error.message}`, { cause: error })
  }
}
