import { isAppError } from '@sandyard/kit/errors/app-error'
import { callDaemon } from '../relay/call-daemon.ts'
import type { ReachableSandbox } from '../relay/sandbox-daemon.ts'
import { shellSelector } from './shell-tag.ts'

/** An ended shell is success. @throws AppError */
export async function killShell({ daemon }: ReachableSandbox, terminalId: string, signal: AbortSignal): Promise<void> {
  const { Signal } = await import('@sandyard/daemon-protocol/process/process_pb')
  const process = shellSelector(terminalId)
  try {
    await callDaemon(daemon, { signal }, ({ processes }, options) => processes.sendSignal({ process, signal: Signal.SIGKILL }, options))
  } catch (err) {
    if (!isAppError(err, 'not_found')) throw err
  }
}
