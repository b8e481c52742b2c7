import type { RemoveWatcherRequest } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Watchers } from './watchers.ts'

/** RemoveWatcher (envd.md 7.11). A repeated call is `not_found`. */
export function removeWatcher({ watcherId }: RemoveWatcherRequest, watchers: Watchers): Record<string, never> {
  watchers.remove(watcherId)
  return {}
}
