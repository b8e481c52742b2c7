import type { MessageInitShape } from '@bufbuild/protobuf'
import type { GetWatcherEventsRequest, GetWatcherEventsResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Watchers } from './watchers.ts'

/**
 * GetWatcherEvents (envd.md 7.11): every event up to now, each once, also a change made just before the call. On a network file system
 * the events are one or two seconds late.
 */
export async function getWatcherEvents(
  { watcherId }: GetWatcherEventsRequest,
  watchers: Watchers,
): Promise<MessageInitShape<typeof GetWatcherEventsResponseSchema>> {
  return { events: await watchers.get(watcherId).take() }
}
