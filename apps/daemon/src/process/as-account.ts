import { writeSync } from 'node:fs'
import { setThreadGid, setThreadGroups, setThreadUid } from '../sys/libc.ts'
import type { Account } from '../users/account-database.ts'

const OWN = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: process.getgroups?.() ?? [] }

/**
 * Runs `work` while the calling thread has the identity of `account`, supplementary groups included. A process that `work` starts is
 * the account's from its first instruction: it changes its directory as that user, and with `exec` the way back is gone (envd.md 8.4).
 *
 * Identity belongs to threads in the kernel, so the threads that do file operations meanwhile stay root. `work` is synchronous, since
 * nothing else may run on this thread before it is root again; the daemon ends if that fails.
 */
export function asAccount<T>(account: Account, work: () => T): T {
  try {
    setThreadGroups(account.groups)
    setThreadGid(account.gid)
    setThreadUid(account.uid)
    return work()
  } finally {
    becomeSelf()
  }
}

/** In this order: only a root user may change groups. */
function becomeSelf(): void {
  try {
    setThreadUid(OWN.uid)
    setThreadGid(OWN.gid)
    setThreadGroups(OWN.groups)
  } catch (error) {
    writeSync(2, `the daemon could not take its own identity back and ends: ${String(error)}\n`)
    process.abort()
  }
}
