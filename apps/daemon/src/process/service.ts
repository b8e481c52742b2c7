import type { ServiceImpl } from '@connectrpc/connect'
import type { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { hangUpSignal, toMessages, toStreamCall } from '../rpc/stream-call.ts'
import { closeStdin } from './close-stdin.ts'
import { connect } from './connect.ts'
import { list } from './list.ts'
import { toMessage } from './process-event.ts'
import { sendInput } from './send-input.ts'
import { sendSignal } from './send-signal.ts'
import { start, type StartDeps } from './start.ts'
import { streamInput } from './stream-input.ts'
import { update } from './update.ts'

/** `process.Process` (envd.md 8). Failures are AppErrors. */
export function processService(deps: StartDeps): ServiceImpl<typeof Process> {
  const { processes } = deps
  return {
    start: (request, context) => toMessages(() => start(request, toStreamCall(context), deps), toMessage),
    connect: (request, context) => toMessages(() => connect(request, toStreamCall(context), processes), toMessage),
    list: () => list(processes),
    update: (request) => update(request, processes),
    streamInput: (requests, context) => streamInput(requests, hangUpSignal(context), processes),
    sendInput: (request, context) => sendInput(request, hangUpSignal(context), processes),
    sendSignal: (request) => sendSignal(request, processes),
    closeStdin: (request) => closeStdin(request, processes),
  }
}
