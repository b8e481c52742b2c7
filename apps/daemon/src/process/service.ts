import type { HandlerContext, ServiceImpl } from '@connectrpc/connect'
import { ConnectRequestSchema, type Process, StartRequestSchema } from '@sandyard/daemon-protocol/process/process_pb'
import type { PlainStreamMethod } from '../rpc/plain-stream.ts'
import { readMessages } from '../rpc/read-messages.ts'
import type { StreamCall } from '../rpc/stream-call.ts'
import { closeStdin } from './close-stdin.ts'
import { connect } from './connect.ts'
import { list } from './list.ts'
import { type ProcessEvent, toJson, toMessage } from './process-event.ts'
import { sendInput } from './send-input.ts'
import { sendSignal } from './send-signal.ts'
import { start, type StartDeps } from './start.ts'
import { streamInput } from './stream-input.ts'
import { update } from './update.ts'

/**
 * `process.Process` (envd.md 8). Failures are AppErrors.
 *
 * @param toCall what a call of the library's comes down to
 */
export function processService(deps: StartDeps, toCall: (context: HandlerContext) => StreamCall): ServiceImpl<typeof Process> {
  const { processes } = deps
  return {
    start: (request, context) => toMessages(start(request, toCall(context), deps)),
    connect: (request, context) => toMessages(connect(request, toCall(context), processes)),
    list: () => list(processes),
    sendInput: (request) => sendInput(request, processes),
    sendSignal: (request) => sendSignal(request, processes),
    streamInput: (requests) => streamInput(readMessages(requests, 'input'), processes),
    update: (request) => update(request, processes),
    closeStdin: (request) => closeStdin(request, processes),
  }
}

/** The two streams once more, for the short way to the wire. */
export function processStreams(deps: StartDeps): {
  readonly start: PlainStreamMethod<typeof StartRequestSchema, ProcessEvent>
  readonly connect: PlainStreamMethod<typeof ConnectRequestSchema, ProcessEvent>
} {
  return {
    start: { input: StartRequestSchema, run: (request, call) => start(request, call, deps), toJson },
    connect: { input: ConnectRequestSchema, run: (request, call) => connect(request, call, deps.processes), toJson },
  }
}

async function* toMessages(
  events: AsyncIterable<ProcessEvent> | Promise<AsyncIterable<ProcessEvent>>,
): AsyncGenerator<ReturnType<typeof toMessage>> {
  for await (const event of await events) yield toMessage(event)
}
