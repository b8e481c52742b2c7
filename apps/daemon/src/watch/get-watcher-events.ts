import type { MessageInitShape } from '@bufbuild/protobuf'
import type { GetWatcherEventsRequest, GetWatcherEventsResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Watchers } from './watchers.ts'

/** GetWatcherEvents (envd.md 7.11): all that has happened by now, also what happened a moment ago, each event once. */
export async function getWatcherEvents(
  { watcherId }: GetWatcherEventsRequest,
  watchers: Watchers,
): Promise<MessageInitShape<typeof GetWatcherEventsResponseSchema>> {
  return { events: await watchers.get(watcherId).take() }
}
