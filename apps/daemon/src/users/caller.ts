import { AppError } from '@sandyard/kit/errors/app-error'
import type { Account, AccountDatabase, OwnerNames } from './account-database.ts'
import type { PathContext } from './resolve-path.ts'

/** The account that an operation acts for, and how its paths are read. */
export interface Caller extends PathContext {
  readonly user: Account
  /** Names of owners in entries. */
  readonly owners: OwnerNames
}

export interface CallerDefaults {
  readonly defaultUser: string
  readonly defaultWorkdir: string | undefined
}

/**
 * The caller of an RPC: the user that the request names by `Authorization: Basic`, else the default user (envd.md 3.4).
 *
 * @throws AppError `unauthenticated` for an account that is not in `/etc/passwd`
 */
export async function getCaller(database: AccountDatabase, named: string | undefined, defaults: CallerDefaults): Promise<Caller> {
  const name = named ?? defaults.defaultUser
  if (named === undefined && name === '') throw new AppError('unauthenticated', 'no user specified')
  const accounts = await database.read()
  const user = accounts.findUser(name)
  if (user === undefined) {
    throw new AppError('unauthenticated', named === undefined ? `invalid default user: '${name}'` : `invalid username: '${name}'`)
  }
  return { user, owners: accounts, defaultWorkdir: defaults.defaultWorkdir }
}
