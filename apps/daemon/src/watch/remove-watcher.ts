import type { RemoveWatcherRequest } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Watchers } from './watchers.ts'

/** RemoveWatcher (envd.md 7.11). A second time there is no such watcher. */
export function removeWatcher({ watcherId }: RemoveWatcherRequest, watchers: Watchers): Record<string, never> {
  watchers.remove(watcherId)
  return {}
}
