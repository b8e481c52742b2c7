import type { HandlerContext } from '@connectrpc/connect'
import type { ConnectRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessTable, RetainedEnd } from './process-table.ts'
import { type ProcessEventInit, relay } from './relay.ts'

/**
 * Connect (envd.md 8.8): the events of a live process from now on, or start and end of one that ended a moment ago.
 * The call's time limits the stream alone, never the process.
 */
export async function* connect(
  request: ConnectRequest,
  context: HandlerContext,
  processes: ProcessTable,
): AsyncGenerator<{ event: ProcessEventInit }> {
  const found = find(request, processes)
  if ('end' in found) {
    yield { event: { event: { case: 'start', value: { pid: found.pid } } } }
    yield { event: { event: { case: 'end', value: found.end } } }
    return
  }
  for await (const event of relay(found.pid, found.subscribe(), context)) yield { event }
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
