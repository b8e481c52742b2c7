import type { HandlerContext, ServiceImpl } from '@connectrpc/connect'
import type { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { basicUserOf, toMessages, toStreamCall } from '../rpc/stream-call.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type Caller, type CallerDefaults, getCaller } from '../users/caller.ts'
import { createWatcher } from '../watch/create-watcher.ts'
import { getWatcherEvents } from '../watch/get-watcher-events.ts'
import { removeWatcher } from '../watch/remove-watcher.ts'
import { watchDir } from '../watch/watch-dir.ts'
import { toMessage } from '../watch/watch-event.ts'
import type { Watchers } from '../watch/watchers.ts'
import { encodeListing } from './encode-listing.ts'
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
export function filesystemService(deps: FilesystemDeps): ServiceImpl<typeof Filesystem> {
  const { accounts, defaults, watchers } = deps
  const caller = (context: HandlerContext): Promise<Caller> => getCaller(accounts, basicUserOf(context), defaults)
  return {
    stat: async (request, context) => statEntry(request, await caller(context)),
    listDir: async (request, context) => {
      const entries = await listDir(request, await caller(context), context.signal)
      return encodeListing(entries, context.requestHeader.get('content-type'), context.signal)
    },
    makeDir: async (request, context) => makeDir(request, await caller(context)),
    move: async (request, context) => move(request, await caller(context)),
    remove: async (request, context) => remove(request, await caller(context)),
    watchDir: (request, context) => toMessages(() => watchDir(request, toStreamCall(context), deps), toMessage),
    createWatcher: async (request, context) => createWatcher(request, await caller(context), deps),
    getWatcherEvents: (request) => getWatcherEvents(request, watchers),
    removeWatcher: (request) => removeWatcher(request, watchers),
  }
}
