import type { UpdateRequest } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessTable } from './process-table.ts'

/** Update (envd.md 8.8): another size for a terminal. Without one there is nothing to do, and a size that is left out is none. */
export function update({ process, pty }: UpdateRequest, processes: ProcessTable): Record<string, never> {
  const target = processes.get(process)
  if (pty !== undefined) target.streams.resize({ cols: pty.size?.cols ?? 0, rows: pty.size?.rows ?? 0 })
  return {}
}
