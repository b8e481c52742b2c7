import { ConnectError } from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import type { StreamInputRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'
import { writeInput } from './send-input.ts'

/** Errors of headers, which the library reports when the first message is read. */
const HEADER_FAULT = /Connect-Protocol-Version|connect timeout value|unknown compression/

/**
 * StreamInput (envd.md 8.8): writes to one process in the order of the messages; a later start message selects another process. The end of
 * the stream does not close the input. Input that was written before a failure is not undone.
 */
export async function streamInput(
  messages: AsyncIterable<StreamInputRequest>,
  signal: AbortSignal,
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

/** Errors of the stream itself and invalid messages are reported when it is read. */
async function* rewordFailures<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (error) {
    if (!(error instanceof ConnectError) || HEADER_FAULT.test(error.rawMessage)) throw error
    throw new AppError('unknown', `error streaming input: ${codeToString(error.code)}: ${error.rawMessage}`, { cause: error })
  }
}
