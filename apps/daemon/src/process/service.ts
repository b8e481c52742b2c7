import type { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { ServiceHandlers } from '../rpc/rpc-method.ts'
import { closeStdin } from './close-stdin.ts'
import { connect } from './connect.ts'
import { list } from './list.ts'
import { toBinary, toJson, toMessage } from './process-event.ts'
import { sendInput } from './send-input.ts'
import { sendSignal } from './send-signal.ts'
import { start, type StartDeps } from './start.ts'
import { streamInput } from './stream-input.ts'
import { update } from './update.ts'

/** `process.Process` (envd.md 8). Failures are AppErrors. */
export function processService(deps: StartDeps): Required<ServiceHandlers<typeof Process>> {
  const { processes } = deps
  return {
    start: { run: (request, call) => start(request, call, deps), toMessage, toJson, toBinary },
    connect: { run: (request, call) => connect(request, call, processes), toMessage, toJson, toBinary },
    list: () => list(processes),
    update: (request) => update(request, processes),
    streamInput: (requests, call) => streamInput(requests, call, processes),
    sendInput: (request, call) => sendInput(request, call, processes),
    sendSignal: (request) => sendSignal(request, processes),
    closeStdin: (request) => closeStdin(request, processes),
  }
}
