import { Type, type Static } from 'typebox'
import type { BinaryAnswer, Instant, Page } from './api-shape.ts'
import { oneOf, pageQuery, sandboxId, uuid } from './request-fields.ts'
import type { ActorView } from './sandboxes.ts'

export const LANES = ['lifecycle', 'command', 'terminal', 'file', 'port', 'net', 'limit'] as const
export type Lane = (typeof LANES)[number]

export const TimelineQuery = Type.Object(
  { ...pageQuery, lane: Type.Optional(Type.String({ pattern: '^[a-z]+(,[a-z]+){0,6}$' })), order: Type.Optional(oneOf(['asc', 'desc'])) },
  { additionalProperties: false },
)
export type TimelineQuery = Static<typeof TimelineQuery>

export interface TimelineEntry {
  /** Unique in the sandbox and stable. */
  readonly id: string
  readonly lane: Lane
  readonly at: Instant
  /** Of what lasts: a command, a terminal, a pause. Null: it still runs. Absent: an instant. */
  readonly endedAt?: Instant | null
  /** The kind of the stored event, such as `sandbox.paused`. */
  readonly kind: string
  /** One line for people. */
  readonly text: string
  readonly actor?: ActorView
  readonly exitCode?: number
  /** A recording that can be replayed. */
  readonly recordingId?: string
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Recording {
  readonly recordingId: string
  readonly terminalId: string
  readonly title: string
  readonly startedAt: Instant
  readonly endedAt: Instant | null
  readonly bytes: number
  /** It reached a cap, or could not be stored: the rest of the session is not in it. */
  readonly isTruncated: boolean
  readonly cols: number
  readonly rows: number
}

export const RecordingParams = Type.Object({ sandboxId, recordingId: uuid })

/** A snapshot or a fork. */
export interface LineageNode {
  readonly kind: 'sandbox' | 'snapshot' | 'template'
  readonly id: string
  readonly name: string
  readonly at: Instant
  readonly state: string
  readonly parentId: string | null
  readonly bytes: number | null
}

export interface TimelineApi {
  'GET /sandboxes/{sandboxId}/timeline': { params: { sandboxId: string }; query: TimelineQuery; answer: Page<TimelineEntry> }
  'GET /sandboxes/{sandboxId}/lineage': { params: { sandboxId: string }; answer: { nodes: readonly LineageNode[]; isCut: boolean } }
  'GET /sandboxes/{sandboxId}/recordings': { params: { sandboxId: string }; answer: { data: readonly Recording[] } }
  /** Asciicast v2, as far as it is stored. It has what the terminal printed, never what was typed. */
  'GET /sandboxes/{sandboxId}/recordings/{recordingId}': { params: { sandboxId: string; recordingId: string }; answer: BinaryAnswer }
  'DELETE /sandboxes/{sandboxId}/recordings/{recordingId}': { params: { sandboxId: string; recordingId: string }; answer: undefined }
}
