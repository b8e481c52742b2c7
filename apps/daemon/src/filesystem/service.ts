import type { HandlerContext, ServiceImpl } from '@connectrpc/connect'
import type { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { AccountDatabase, OwnerNames } from '../users/account-database.ts'
import { type Caller, type CallerDefaults, getCaller } from '../users/caller.ts'
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
  async function begin(context: HandlerContext): Promise<[Caller, OwnerNames]> {
    return Promise.all([getCaller(deps.accounts, deps.basicUser(context), deps.defaults), deps.accounts.ownerNames()])
  }
  return {
    stat: async (request, context) => statEntry(request, ...(await begin(context))),
    makeDir: async (request, context) => makeDir(request, ...(await begin(context))),
    move: async (request, context) => move(request, ...(await begin(context))),
    remove: async (request, context) => remove(request, (await begin(context))[0]),
    listDir: async (request, context) => {
      const [caller, owners] = await begin(context)
      return listDir(request, caller, { owners, signal: context.signal })
    },
  }
}
