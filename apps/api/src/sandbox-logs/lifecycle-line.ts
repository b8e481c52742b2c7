import type { LogLevel } from '@sandyard/db/schema/build-log'
import type { Event } from '../events/event-log.ts'

export interface LifecycleLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
}

interface LineText {
  readonly message: string
  /** Default: info. */
  readonly level?: LogLevel
}

/** The line of each kind of event. Changes of the end time have none: terminals change it every few seconds. */
const LINES: Readonly<Partial<Record<Event['kind'], LineText>>> = {
  'sandbox.starting': { message: 'Sandbox is starting' },
  'sandbox.running': { message: 'Sandbox started' },
  'sandbox.pausing': { message: 'Sandbox is being paused' },
  'sandbox.paused': { message: 'Sandbox paused' },
  'sandbox.pause_failed': { message: 'Sandbox could not be paused and is still running', level: 'warn' },
  'sandbox.resuming': { message: 'Sandbox is being resumed' },
  'sandbox.resumed': { message: 'Sandbox resumed' },
  'sandbox.resume_failed': { message: 'Sandbox could not be resumed and is still paused', level: 'warn' },
  'sandbox.snapshotting': { message: 'Snapshot is being taken' },
  'sandbox.snapshotted': { message: 'Snapshot taken' },
  'sandbox.snapshot_failed': { message: 'Snapshot could not be taken', level: 'warn' },
  'sandbox.forked': { message: 'Sandbox forked' },
  'sandbox.memory_lost': { message: 'Memory of the paused sandbox is lost; it will resume from its files', level: 'warn' },
  'sandbox.network_changed': { message: 'Network settings changed' },
  'sandbox.killing': { message: 'Sandbox is ending' },
  'sandbox.ended': { message: 'Sandbox ended' },
}

const KEPT: Readonly<Record<string, string>> = { memory: 'memory kept', files: 'files kept' }

/** The line of the log of a sandbox for an event of its lifecycle; undefined when the event has none. */
export function toLifecycleLine({ kind, data = {} }: Pick<Event, 'kind' | 'data'>): LifecycleLine | undefined {
  const line = LINES[kind]
  if (line === undefined) return undefined
  const { actor, reason, keep } = data as { actor?: { kind?: unknown }; reason?: unknown; keep?: unknown }
  const kept = kind === 'sandbox.paused' && typeof keep === 'string' ? KEPT[keep] : undefined
  return {
    level: line.level ?? 'info',
    message: kept === undefined ? line.message : `${line.message} (${kept})`,
    fields: {
      logger: 'lifecycle',
      ...(typeof actor?.kind === 'string' && { actor: actor.kind }),
      ...(typeof reason === 'string' && { reason }),
    },
  }
}
