import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ListResponseSchema } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessTable } from './process-table.ts'

/** List (envd.md 8.8): live processes in no particular order, with the configuration of their requests. */
export function list(processes: ProcessTable): MessageInitShape<typeof ListResponseSchema> {
  return {
    processes: processes.list().map(({ pid, config, tag }) => (tag === undefined ? { pid, config } : { pid, config, tag })),
  }
}
