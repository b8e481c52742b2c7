import type { ProcessInput, SendInputRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ManagedProcess } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'

/**
 * SendInput (envd.md 8.8): answers when the process's pipe or terminal has accepted all bytes, which may never happen. A wait ends when
 * `signal` aborts.
 */
export async function sendInput(
  { process, input }: SendInputRequest,
  signal: AbortSignal,
  processes: ProcessTable,
): Promise<Record<string, never>> {
  await writeInput(input, processes.get(process), signal)
  return {}
}

/** @throws AppError `internal` for the wrong kind of input and `unimplemented` for none */
export async function writeInput(input: ProcessInput | undefined, { streams }: ManagedProcess, signal: AbortSignal): Promise<void> {
  switch (input?.input.case) {
    case 'stdin':
      return streams.writeStdin(input.input.value, signal)
    case 'pty':
      return streams.writeTerminal(input.input.value, signal)
    case undefined:
      throw new AppError('unimplemented', 'invalid input type <nil>')
  }
}
