import type { ActorView } from '@sandyard/dashboard-contract/sandboxes'
import { endText } from './sandboxes/end-text.ts'

const TEXTS: Readonly<Record<string, string>> = {
  'sandbox.starting': 'It was asked for.',
  'sandbox.running': 'It runs.',
  'sandbox.pausing': 'Its pause began.',
  'sandbox.paused': 'It is paused.',
  'sandbox.pause_failed': 'It could not be paused.',
  'sandbox.resuming': 'Its resume began.',
  'sandbox.resumed': 'It runs again.',
  'sandbox.resume_failed': 'It could not be resumed.',
  'sandbox.snapshotting': 'A snapshot of it began.',
  'sandbox.snapshotted': 'A snapshot of it was made.',
  'sandbox.snapshot_failed': 'No snapshot of it could be made.',
  'sandbox.forked': 'It was forked.',
  'sandbox.memory_lost': 'The memory that its pause kept was lost.',
  'sandbox.timeout_changed': 'Its end time was changed.',
  'sandbox.network_changed': 'Its network policy was changed.',
  'sandbox.ended': 'It has ended.',
  'template.build_registered': 'A build was registered.',
  'template.built': 'A build is ready.',
  'template.build_failed': 'A build failed.',
  'template.updated': 'The template was changed.',
  'template.deleted': 'The template was deleted.',
  'template.tagged': 'A tag was assigned.',
  'template.untagged': 'A tag was removed.',
}

/** A stored event as a sentence. The end of a sandbox has its reason. Kinds of other releases are shown as they are. */
export function eventText(kind: string, data: Readonly<Record<string, unknown>>, actor: ActorView): string {
  if (kind === 'sandbox.killing') return endText(typeof data['reason'] === 'string' ? data['reason'] : 'killed', actor)
  return TEXTS[kind] ?? kind
}

/** The actor that an event stores. */
export function actorIn({ actor }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  return typeof actor === 'object' && actor !== null && !Array.isArray(actor) ? (actor as Record<string, unknown>) : null
}
