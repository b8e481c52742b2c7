import type { ActorView } from '@sandyard/dashboard-contract/sandboxes'
import { endText } from './sandboxes/end-text.ts'

const TEXTS: Readonly<Record<string, string>> = {
  'sandbox.starting': 'Create began',
  'sandbox.running': 'Started',
  'sandbox.pausing': 'Pause began',
  'sandbox.paused': 'Paused',
  'sandbox.pause_failed': 'The pause failed',
  'sandbox.resuming': 'Resume began',
  'sandbox.resumed': 'Resumed',
  'sandbox.resume_failed': 'The resume failed',
  'sandbox.snapshotting': 'Snapshot began',
  'sandbox.snapshotted': 'Snapshot taken',
  'sandbox.snapshot_failed': 'The snapshot failed',
  'sandbox.forked': 'Forked',
  'sandbox.memory_lost': 'The memory that its pause had kept was lost',
  'sandbox.timeout_changed': 'End time changed',
  'sandbox.network_changed': 'Network policy changed',
  'sandbox.ended': 'Ended',
  'template.build_registered': 'Build registered',
  'template.built': 'Build ready',
  'template.build_failed': 'Build failed',
  'template.updated': 'Template changed',
  'template.deleted': 'Template deleted',
  'template.tagged': 'Tag assigned',
  'template.untagged': 'Tag removed',
}

/** A stored event in a few words. The end of a sandbox has its reason. Kinds of other releases are shown as they are. */
export function eventText(kind: string, data: Readonly<Record<string, unknown>>, actor: ActorView): string {
  if (kind === 'sandbox.killing') return endText(typeof data['reason'] === 'string' ? data['reason'] : 'killed', actor)
  return TEXTS[kind] ?? kind
}

/** The actor that an event stores. */
export function actorIn({ actor }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  return typeof actor === 'object' && actor !== null && !Array.isArray(actor) ? (actor as Record<string, unknown>) : null
}
