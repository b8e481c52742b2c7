import { createHash } from 'node:crypto'
import type { TopicSource } from '../shared-topic.ts'

/** A digest of what a page shows: the server keeps that, not the content. */
export function digest(value: unknown): string {
  return createHash('sha1').update(JSON.stringify(value)).digest('base64')
}

/** A topic whose patches are the whole again. */
export function wholeSource<Whole>(
  source: Pick<TopicSource<Whole, string, Whole>, 'read' | 'hears'> & { readonly everyMs?: number },
): TopicSource<Whole, string, Whole> {
  return { ...source, keep: digest, changes: (kept, whole) => (kept === digest(whole) ? undefined : whole) }
}
