import type { ServiceImpl } from '@connectrpc/connect'
import type { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { closeStdin } from './close-stdin.ts'
import { connect } from './connect.ts'
import { list } from './list.ts'
import { sendInput } from './send-input.ts'
import { sendSignal } from './send-signal.ts'
import { start, type StartDeps } from './start.ts'

/** `process.Process` (envd.md 8). What is not in it answers `unimplemented`. Failures are AppErrors. */
export function processService(deps: StartDeps): Partial<ServiceImpl<typeof Process>> {
  const { processes } = deps
  return {
    start: (request, context) => start(request, context, deps),
    connect: (request, context) => connect(request, context, processes),
    list: () => list(processes),
    sendInput: (request) => sendInput(request, processes),
    sendSignal: (request) => sendSignal(request, processes),
    closeStdin: (request) => closeStdin(request, processes),
  }
}
