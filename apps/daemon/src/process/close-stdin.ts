import type { CloseStdinRequest } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessTable } from './process-table.ts'

/** CloseStdin (envd.md 8.8): end of file for the process. Succeeds again, and for a process that never had an input. */
export function closeStdin({ process }: CloseStdinRequest, processes: ProcessTable): Record<string, never> {
  processes.get(process).streams.closeStdin()
  return {}
}
