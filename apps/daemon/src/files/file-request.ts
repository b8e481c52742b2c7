import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyRequest } from 'fastify'
import type { DaemonLog } from '../loggers.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import type { CallerDefaults } from '../users/caller.ts'
import type { PasswdEntry } from '../users/passwd.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { type FileQuery, parseFileQuery } from './file-query.ts'
import { firstHeader } from '../http/request-header.ts'
import { checkFileAccess, type FileAccess } from './file-signature.ts'

/** What `/init` sets, read at each request. */
export interface FileSettings extends CallerDefaults {
  /** The token that requests must send or be signed with; undefined if no token is required. */
  readonly accessToken: Secret | undefined
}

export interface FileRouteDeps {
  readonly accounts: AccountDatabase
  readonly settings: FileSettings
  readonly log: DaemonLog
}

/**
 * The query of a request that may read or write files (envd.md 3.3).
 *
 * @throws InvalidQuery; AppError `unauthenticated`
 */
export function getPermittedQuery(request: FastifyRequest, settings: FileSettings, operation: FileAccess['operation']): FileQuery {
  const query = parseFileQuery(request.raw.url ?? '')
  const presentedToken = firstHeader(request.raw, 'x-access-token')
  checkFileAccess({ ...query, operation, presentedToken }, settings.accessToken?.reveal(), Date.now() / 1000)
  return query
}

/** The account that the request acts for: the parameter, even if it is empty, else the default user. */
export function getUserName(query: Pick<FileQuery, 'username'>, settings: FileSettings): string {
  const name = query.username ?? settings.defaultUser
  if (query.username === undefined && name === '') throw new AppError('invalid_argument', 'username not provided')
  return name
}

/** @throws AppError `unauthenticated` for an account that is not in `/etc/passwd` */
export async function getFileUser(accounts: AccountDatabase, name: string): Promise<PasswdEntry> {
  const user = await accounts.lookupUser(name)
  if (user === undefined) throw new AppError('unauthenticated', `error looking up user '${name}': user: unknown user ${name}`)
  return user
}

/** Resolves a path of these routes; `failure` is the prefix of error messages. */
export function resolveFilePath(
  path: string,
  context: { readonly user: PasswdEntry; readonly settings: FileSettings; readonly failure: string },
) {
  try {
    return resolvePath(path, { user: context.user, defaultWorkdir: context.settings.defaultWorkdir })
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.kind, `${context.failure}: ${error.message}`, { cause: error })
    throw error
  }
}
