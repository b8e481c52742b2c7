import type { UpdateRequest } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessTable } from './process-table.ts'

/** Update (envd.md 8.8): sets the size of a terminal. Does nothing without `pty`; a missing size is 0 by 0. */
export function update({ process, pty }: UpdateRequest, processes: ProcessTable): Record<string, never> {
  const target = processes.get(process)
  if (pty !== undefined) target.streams.resize({ cols: pty.size?.cols ?? 0, rows: pty.size?.rows ?? 0 })
  return {}
}
