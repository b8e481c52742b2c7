import type { Db } from '@sandyard/db/database'
import type { PlacedEvent } from '../events/read-events.ts'
import { describeEvents, type DescribedEvent } from '../sandboxes/events/describe-events.ts'

/** In the order of the places. Events of sandboxes that the history has forgotten are left out. */
export async function describePlaced(
  db: Db,
  events: readonly Pick<PlacedEvent, 'eventId' | 'place'>[],
): Promise<(DescribedEvent & { readonly place: number })[]> {
  const places = new Map(events.map(({ eventId, place }) => [eventId, place]))
  const described = await describeEvents(db, [...places.keys()])
  return described.map((event) => ({ ...event, place: places.get(event.eventId) ?? 0 })).toSorted((a, b) => a.place - b.place)
}
