import type { Account } from '../users/account-database.ts'

type Variables = Readonly<Record<string, string>>

export interface LoginEnvOptions {
  readonly account: Account
  /** PATH of the daemon, the only variable that processes inherit from it. */
  readonly path: string
  /** Variables of `/init` and the platform. */
  readonly global: Variables
  /** Variables of the request. */
  readonly own: Variables
}

/** The whole environment of a process; later variables replace earlier ones, even PATH and HOME (envd.md 8.4). */
export function loginEnv({ account, path, global, own }: LoginEnvOptions): Record<string, string> {
  return { PATH: path, HOME: account.home, USER: account.name, LOGNAME: account.name, ...global, ...own }
}
