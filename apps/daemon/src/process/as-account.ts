import { writeSync } from 'node:fs'
import { setThreadEffectiveUid, setThreadGid, setThreadGroups, setThreadUid } from '../sys/libc.ts'
import type { Account } from '../users/account-database.ts'

const OWN = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: process.getgroups?.() ?? [] }

/**
 * Runs `work` while what the calling thread opens and makes is the account's.
 *
 * Identity belongs to threads in the kernel, so the threads that do file operations meanwhile stay root. `work` is synchronous, since
 * nothing else may run on this thread before it is root again; the daemon ends if that fails.
 */
export function asAccount<T>(account: Account, work: () => T): T {
  return withIdentity(() => become(account, setThreadEffectiveUid), work)
}

/**
 * The same, and a process that `work` starts is the account's from its first instruction. Meanwhile the account's processes may signal the
 * daemon, so this is for a `work` that is expected to fail.
 */
export function entirelyAsAccount<T>(account: Account, work: () => T): T {
  return withIdentity(() => become(account, setThreadUid), work)
}

function withIdentity<T>(become: () => void, work: () => T): T {
  try {
    become()
    return work()
  } finally {
    becomeSelf()
  }
}

function become({ uid, gid, groups }: Account, setUid: (uid: number) => void): void {
  setThreadGroups(groups)
  setThreadGid(gid)
  setUid(uid)
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
