import type { ConnectRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { StreamCall } from '../rpc/stream-call.ts'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessEvent } from './process-event.ts'
import type { ProcessTable, RetainedEnd } from './process-table.ts'
import { relay } from './relay.ts'

/**
 * Connect (envd.md 8.8): the events of a live process from now on, or start and end of one that ended a moment ago.
 * The call's time limits the stream alone, never the process.
 */
export function connect(request: ConnectRequest, call: StreamCall, processes: ProcessTable): AsyncIterable<ProcessEvent> {
  const found = find(request, processes)
  return 'end' in found ? replay(found) : relay(found.pid, found.subscribe(), call)
}

async function* replay({ pid, end }: RetainedEnd): AsyncGenerator<ProcessEvent> {
  yield { kind: 'start', pid }
  yield { kind: 'end', end }
}

function find({ process }: ConnectRequest, processes: ProcessTable): ManagedProcess | RetainedEnd {
  try {
    return processes.get(process)
  } catch (error) {
    const retained = isAppError(error, 'not_found') ? processes.findRetained(process) : undefined
    if (retained === undefined) throw error
    return retained
  }
}
