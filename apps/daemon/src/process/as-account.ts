import { writeSync } from 'node:fs'
import { setThreadEffectiveUid, setThreadGid, setThreadGroups } from '../sys/thread-identity.ts'
import type { Account } from '../users/account-database.ts'

const OWN = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: process.getgroups?.() ?? [] }

/**
 * Runs `work` with the account's effective ids on the calling thread: what it opens and creates belongs to the account. The account may not
 * signal the daemon meanwhile.
 *
 * In the kernel identity belongs to threads, so the thread pool, which does other file operations at the same time, remains root. `work` must be
 * synchronous: nothing else may run on this thread until it is root again. If that fails, the daemon aborts.
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

/** The user id first, because only root may change groups. */
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
