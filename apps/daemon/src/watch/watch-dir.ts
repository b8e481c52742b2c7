import { isAppError } from '@sandyard/kit/errors/app-error'
import type { StreamCall } from '../rpc/stream-call.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type CallerDefaults, getCaller } from '../users/caller.ts'
import { cleanPath } from '../users/path-parts.ts'
import { acceptDirectory, type WatchRequest } from './acceptance.ts'
import { type Description, describeChange } from './describe-change.ts'
import { EventQueue } from './event-queue.ts'
import { openWatch } from './open-watch.ts'
import type { WatchEvent } from './watch-event.ts'
import type { Watchers } from './watchers.ts'

export interface WatchDirDeps {
  readonly accounts: AccountDatabase
  readonly defaults: CallerDefaults
  readonly watchers: Watchers
}

/**
 * WatchDir (envd.md 7.10). The watch ends with the call. A client that falls too far behind gets the overflow error instead of the events
 * that it has not read.
 *
 * @throws AppError if the directory cannot be watched
 */
export async function watchDir(request: WatchRequest, call: StreamCall, deps: WatchDirDeps): Promise<AsyncIterable<WatchEvent>> {
  const caller = await getCaller(deps.accounts, call.basicUser, deps.defaults)
  const directory = await acceptDirectory(request, caller)
  const queue = new EventQueue()
  const watch = await openWatch(
    {
      directory,
      recursive: request.recursive,
      deliver: (change, backlog) => queue.push(change, backlog),
      onFailure: (error) => queue.close(error),
    },
    deps.watchers,
  )
  const stop = (): void => {
    call.signal.removeEventListener('abort', stop)
    watch.close()
    queue.close(isAppError(call.signal.reason) ? call.signal.reason : undefined)
  }
  call.signal.addEventListener('abort', stop)
  if (call.signal.aborted) stop()
  const description = { root: cleanPath(directory.path), includeEntry: request.includeEntry, accounts: deps.accounts }
  return send(queue, description, { call, stop })
}

interface Exchange {
  readonly call: StreamCall
  readonly stop: () => void
}

/** Reads the entries just before they are sent. */
async function* send(queue: EventQueue, description: Description, { call, stop }: Exchange): AsyncGenerator<WatchEvent> {
  try {
    if (!call.signal.aborted) yield { kind: 'start' }
    while (true) {
      const change = await queue.next(call.keepaliveMs)
      if (change === undefined) return
      yield change === 'idle' ? { kind: 'keepalive' } : { kind: 'filesystem', event: await describeChange(change, description) }
    }
  } finally {
    stop()
  }
}
