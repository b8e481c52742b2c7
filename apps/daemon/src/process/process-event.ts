import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ProcessEventSchema } from '@sandyard/daemon-protocol/process/process_pb'
import type { OutputEvent } from './subscription.ts'

/** One message of the streams of Start and Connect (envd.md 8.1). */
export type ProcessEvent = OutputEvent | { readonly kind: 'start'; readonly pid: number } | { readonly kind: 'keepalive' }

/** The response that carries an event. */
export function toMessage(event: ProcessEvent): { event: MessageInitShape<typeof ProcessEventSchema> } {
  switch (event.kind) {
    case 'stdout':
    case 'stderr':
    case 'pty':
      return { event: { event: { case: 'data', value: { output: { case: event.kind, value: event.bytes } } } } }
    case 'start':
      return { event: { event: { case: 'start', value: { pid: event.pid } } } }
    case 'end':
      return { event: { event: { case: 'end', value: event.end } } }
    case 'keepalive':
      return { event: { event: { case: 'keepalive', value: {} } } }
  }
}
