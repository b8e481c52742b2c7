import type { HandlerContext, ServiceImpl } from '@connectrpc/connect'
import type { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { AccountDatabase } from '../users/account-database.ts'
import { type CallerDefaults, getCaller } from '../users/caller.ts'
import { listDir } from './list-dir.ts'
import { makeDir } from './make-dir.ts'
import { move } from './move.ts'
import { remove } from './remove.ts'
import { statEntry } from './stat.ts'

export interface FilesystemDeps {
  readonly accounts: AccountDatabase
  /** Read at each request, since `/init` may change it. */
  readonly defaults: CallerDefaults
  /** The user that the request names, already known to exist when it came in. */
  readonly basicUser: (context: HandlerContext) => string | undefined
}

/** `filesystem.Filesystem` (envd.md 7). What is not in it answers `unimplemented`. Failures are AppErrors. */
export function filesystemService(deps: FilesystemDeps): Partial<ServiceImpl<typeof Filesystem>> {
  const caller = (context: HandlerContext) => getCaller(deps.accounts, deps.basicUser(context), deps.defaults)
  return {
    stat: async (request, context) => statEntry(request, await caller(context)),
    listDir: async (request, context) => listDir(request, await caller(context), context.signal),
    makeDir: async (request, context) => makeDir(request, await caller(context)),
    move: async (request, context) => move(request, await caller(context)),
    remove: async (request, context) => remove(request, await caller(context)),
  }
}
