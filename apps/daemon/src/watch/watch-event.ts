import type { MessageInitShape } from '@bufbuild/protobuf'
import { type EntryInfo, EventType, WatchDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { jsonCodec } from '../rpc/codec.ts'

/** A change below a watched directory. */
export interface Change {
  /** Relative to the watched directory, which is `.` itself, as bytes (latin1). */
  readonly path: string
  readonly type: EventType
}

/** A change as clients see it. */
export interface FilesystemEvent {
  readonly name: string
  readonly type: EventType
  readonly entry?: EntryInfo
}

/** One message of the stream of WatchDir (envd.md 7.10). */
export type WatchEvent = { readonly kind: 'start' | 'keepalive' } | { readonly kind: 'filesystem'; readonly event: FilesystemEvent }

/** The response that carries an event. */
export function toMessage(message: WatchEvent): MessageInitShape<typeof WatchDirResponseSchema> {
  switch (message.kind) {
    case 'start':
      return { event: { case: 'start', value: {} } }
    case 'keepalive':
      return { event: { case: 'keepalive', value: {} } }
    case 'filesystem':
      return { event: { case: 'filesystem', value: message.event } }
  }
}

/** The same as JSON. Most events are a name and a type, and come in thousands. */
export function toJson(message: WatchEvent): string {
  if (message.kind !== 'filesystem') return `{"${message.kind}":{}}`
  const { name, type, entry } = message.event
  if (entry !== undefined) return jsonCodec.encode(WatchDirResponseSchema, toMessage(message)).toString()
  return `{"filesystem":{"name":${JSON.stringify(name)},"type":"EVENT_TYPE_${EventType[type]}"}}`
}
