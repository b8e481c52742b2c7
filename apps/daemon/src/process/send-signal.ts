import { type SendSignalRequest, Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ProcessTable } from './process-table.ts'

/** SendSignal (envd.md 8.8): SIGTERM or SIGKILL for the one process. Its children live on. */
export function sendSignal({ process, signal }: SendSignalRequest, processes: ProcessTable): Record<string, never> {
  const target = processes.get(process)
  // Any number may come in the place of a name.
  if (signal === Signal.SIGTERM) target.signal('SIGTERM')
  else if (signal === Signal.SIGKILL) target.signal('SIGKILL')
  else throw new AppError('unimplemented', `invalid signal: ${signal === Signal.UNSPECIFIED ? 'SIGNAL_UNSPECIFIED' : String(signal)}`)
  return {}
}
