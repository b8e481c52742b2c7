import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ProcessEventSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { encodeOutput } from './output-message.ts'
import type { OutputEvent } from './subscription.ts'

/** One message of the streams of Start and Connect (envd.md 8.1). */
export type ProcessEvent = OutputEvent | { readonly kind: 'start'; readonly pid: number } | { readonly kind: 'keepalive' }

/** The response that carries an event, as JSON with all its zeros. Output, of which there may be gigabytes, takes no detour. */
export function toJson(event: ProcessEvent): string {
  switch (event.kind) {
    case 'stdout':
    case 'stderr':
    case 'pty':
      return `{"event":{"data":{"${event.kind}":"${Buffer.from(event.bytes.buffer, event.bytes.byteOffset, event.bytes.length).toString('base64')}"}}}`
    case 'start':
      return `{"event":{"start":{"pid":${event.pid}}}}`
    case 'end':
      return JSON.stringify({ event: { end: event.end } })
    case 'keepalive':
      return '{"event":{"keepalive":{}}}'
  }
}

/** The same in protobuf, for output alone. */
export function toBinary(event: ProcessEvent): Buffer | undefined {
  return 'bytes' in event ? encodeOutput(event.kind, event.bytes) : undefined
}

/** The same as a message, for the binary codec. */
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
