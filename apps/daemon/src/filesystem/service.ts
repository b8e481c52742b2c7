import type { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { ServiceHandlers } from '../rpc/rpc-method.ts'
import type { UnaryCall } from '../rpc/stream-call.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type Caller, type CallerDefaults, getCaller } from '../users/caller.ts'
import { createWatcher } from '../watch/create-watcher.ts'
import { getWatcherEvents } from '../watch/get-watcher-events.ts'
import { removeWatcher } from '../watch/remove-watcher.ts'
import { watchDir } from '../watch/watch-dir.ts'
import { toJson, toMessage } from '../watch/watch-event.ts'
import type { Watchers } from '../watch/watchers.ts'
import { listDir } from './list-dir.ts'
import { makeDir } from './make-dir.ts'
import { move } from './move.ts'
import { remove } from './remove.ts'
import { statEntry } from './stat.ts'

export interface FilesystemDeps {
  readonly accounts: AccountDatabase
  /** Read at each request, since `/init` may change it. */
  readonly defaults: CallerDefaults
  readonly watchers: Watchers
}

/** `filesystem.Filesystem` (envd.md 7). Failures are AppErrors. */
export function filesystemService(deps: FilesystemDeps): ServiceHandlers<typeof Filesystem> {
  const { accounts, defaults, watchers } = deps
  const caller = ({ basicUser }: UnaryCall): Promise<Caller> => getCaller(accounts, basicUser, defaults)
  return {
    stat: async (request, call) => statEntry(request, await caller(call)),
    listDir: async (request, call) => listDir(request, await caller(call), call.signal),
    makeDir: async (request, call) => makeDir(request, await caller(call)),
    move: async (request, call) => move(request, await caller(call)),
    remove: async (request, call) => remove(request, await caller(call)),
    watchDir: { run: (request, call) => watchDir(request, call, deps), toMessage, toJson },
    createWatcher: async (request, call) => createWatcher(request, await caller(call), deps),
    getWatcherEvents: (request) => getWatcherEvents(request, watchers),
    removeWatcher: (request) => removeWatcher(request, watchers),
  }
}
