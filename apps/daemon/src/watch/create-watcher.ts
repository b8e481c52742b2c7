import type { MessageInitShape } from '@bufbuild/protobuf'
import type { CreateWatcherResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { AccountDatabase } from '../users/account-database.ts'
import type { Caller } from '../users/caller.ts'
import { acceptDirectory, type WatchRequest } from './acceptance.ts'
import { PolledWatcher } from './polled-watcher.ts'
import type { Watchers } from './watchers.ts'

export interface CreateWatcherDeps {
  readonly accounts: AccountDatabase
  readonly watchers: Watchers
}

/** CreateWatcher (envd.md 7.11): every change after the answer can be polled. */
export async function createWatcher(
  request: WatchRequest,
  caller: Caller,
  { accounts, watchers }: CreateWatcherDeps,
): Promise<MessageInitShape<typeof CreateWatcherResponseSchema>> {
  const directory = await acceptDirectory(request, caller)
  return { watcherId: await watchers.add(() => PolledWatcher.open(directory, request, { accounts, watchers })) }
}
