import type { MessageInitShape } from '@bufbuild/protobuf'
import type { EntryInfo, EventType, WatchDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'

/** A change below a watched directory. */
export interface Change {
  /** Relative to the watched directory, which is `.` itself, as text of any bytes (`users/path-bytes.ts`). */
  readonly path: string
  readonly type: EventType
}

/** A change as sent to clients. */
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
