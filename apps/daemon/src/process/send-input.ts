import type { SendInputRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ProcessTable } from './process-table.ts'

/** SendInput (envd.md 8.8): answers when the process's pipe has taken everything, which may be never. */
export async function sendInput({ process, input }: SendInputRequest, processes: ProcessTable): Promise<Record<string, never>> {
  const target = processes.get(process)
  switch (input?.input.case) {
    case 'stdin':
      await target.writeStdin(input.input.value)
      return {}
    case 'pty':
      throw new AppError(
        'internal',
        'error writing to tty: tty not assigned to process — input should be written to the stdin, not the tty',
      )
    case undefined:
      throw new AppError('unimplemented', 'invalid input type <nil>')
  }
}
