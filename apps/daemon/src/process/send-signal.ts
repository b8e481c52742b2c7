import { type SendSignalRequest, Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { resultWithin } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'

/** The kernel ends a killed process at once, unless it is in a call that cannot be interrupted. */
const KILL_DEADLINE_MS = 5000

/** SendSignal (envd.md 8.8): SIGTERM or SIGKILL for one process, not for its children. After SIGKILL the answer waits until the process has ended. */
export async function sendSignal({ process, signal }: SendSignalRequest, processes: ProcessTable): Promise<Record<string, never>> {
  const target = processes.get(process)
  // The request may contain any number instead of a name.
  if (signal === Signal.SIGTERM) target.signal('SIGTERM')
  else if (signal === Signal.SIGKILL) await kill(target)
  else throw new AppError('unimplemented', `invalid signal: ${signal === Signal.UNSPECIFIED ? 'SIGNAL_UNSPECIFIED' : String(signal)}`)
  return {}
}

async function kill(target: ManagedProcess): Promise<void> {
  target.signal('SIGKILL')
  await resultWithin(KILL_DEADLINE_MS, target.ended)
}
