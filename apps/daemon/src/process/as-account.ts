import { writeSync } from 'node:fs'
import { setThreadEffectiveUid, setThreadGid, setThreadGroups } from '../sys/thread-identity.ts'
import type { Account } from '../users/account-database.ts'

const OWN = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: process.getgroups?.() ?? [] }

/**
 * Runs `work` while what the calling thread opens and makes is the account's. The account may not signal the daemon meanwhile.
 *
 * In the kernel identity belongs to threads, so the threads that do file operations at the same time stay root. `work` is synchronous, since
 * nothing else may run on this thread before it is root again; the daemon ends if that fails.
 */
export function asAccount<T>({ uid, gid, groups }: Account, work: () => T): T {
  try {
    setThreadGroups(groups)
    setThreadGid(gid)
    setThreadEffectiveUid(uid)
    return work()
  } finally {
    becomeSelf()
  }
}

/** In this order: only a root user may change groups. */
function becomeSelf(): void {
  try {
    setThreadEffectiveUid(OWN.uid)
    setThreadGid(OWN.gid)
    setThreadGroups(OWN.groups)
  } catch (error) {
    writeSync(2, `the daemon could not take its own identity back and ends: ${String(error)}\n`)
    process.abort()
  }
}
