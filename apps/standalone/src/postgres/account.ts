/**
 * Postgres refuses to run as root. Under root it runs as a system account that owns only the database's files.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { runStep } from '@sandyard/runtime-docker/host/run-step'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'

export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

const ACCOUNT_NAME = 'sandyard'

/**
 * The account for the database's files: the owner of existing files, else the system account, which is created if it
 * is missing. Undefined means this process's own user.
 */
export async function postgresAccount(folder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(folder, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const known = findAccount(readFileSync('/etc/passwd', 'utf8'), ACCOUNT_NAME)
  if (known !== undefined) return known
  const { tail } = await runStep(
    'useradd',
    ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', ACCOUNT_NAME],
    { timeoutMs: 10_000 },
  )
  const made = findAccount(readFileSync('/etc/passwd', 'utf8'), ACCOUNT_NAME)
  if (made !== undefined) return made
  throw new StartFailure(
    `Postgres does not run as root, and the account "${ACCOUNT_NAME}" for it could not be made (${tail}): make it, or run this as an ordinary user.`,
  )
}

export function findAccount(passwd: string, name: string): Account | undefined {
  const fields = passwd
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
    ?.split(':')
  return fields === undefined ? undefined : { uid: Number(fields[2]), gid: Number(fields[3]) }
}

/** initdb looks for its sibling program with `access(2)`, which respects the capability only when the uid fix-up is off. */
const PASSAGE = ['--securebits', '+no_setuid_fixup', '--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search']

/**
 * The command line that runs a program as `account`, without a way to regain rights. If a folder above one of `paths` is closed to the
 * account (a clone under root's home), the program gets one capability to pass it: to read and search, never to write.
 */
export function runAs(account: Account | undefined, command: Command, paths: readonly string[]): Command {
  if (account === undefined) return command
  const setpriv = findProgram('setpriv')
  if (setpriv === undefined) throw new StartFailure('The program "setpriv" is missing: install the package util-linux and run this again.')
  const identity = ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups', '--no-new-privs']
  const passage = paths.every((path) => isReachable(path, account)) ? [] : PASSAGE
  return { program: setpriv, args: [...identity, ...passage, command.program, ...command.args] }
}

/** Whether `account` may traverse every folder above `path`. */
function isReachable(path: string, { uid, gid }: Account): boolean {
  const folder = dirname(path)
  const { mode, uid: owner, gid: group } = statSync(folder)
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
  return (mode & bit) !== 0 && (folder === '/' || isReachable(folder, { uid, gid }))
}
