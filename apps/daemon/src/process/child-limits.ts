import { openSync, readFileSync, writeSync } from 'node:fs'
import { getOpenFileLimit, setOpenFileLimit } from '../sys/libc.ts'

/** How much earlier than the daemon a user's process goes when memory is short (envd.md 8.10); no score is above the highest. */
const OOM_SCORE_ABOVE_DAEMON = 100
const HIGHEST_OOM_SCORE = 1000

const ownScore = readFileSync('/proc/self/oom_score_adj', 'utf8').trim()
const childScore = String(Math.min(Number(ownScore) + OOM_SCORE_ABOVE_DAEMON, HIGHEST_OOM_SCORE))
const scoreFile = openSync('/proc/self/oom_score_adj', 'w')
const ownLimit = getOpenFileLimit()
const parentSoftLimit = readParentFileLimit() ?? ownLimit.soft
// A parent may have been allowed more than its children are.
const childLimit = { ...ownLimit, soft: parentSoftLimit < ownLimit.hard ? parentSoftLimit : ownLimit.hard }

/**
 * Starts a process by `work` with the limits that a user's process has in place of the daemon's. A child takes them from its parent at its
 * start, so for that moment the daemon has them itself: a score that was only raised may be lowered again without any capability.
 */
export function withChildLimits<T>(work: () => T): T {
  writeSync(scoreFile, childScore)
  setOpenFileLimit(childLimit)
  try {
    return work()
  } finally {
    setOpenFileLimit(ownLimit)
    writeSync(scoreFile, ownScore)
  }
}

/** Node has raised its soft limit to the hard one; its parent still has what the container was given. */
function readParentFileLimit(): bigint | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${process.ppid}/limits`, 'utf8'))?.[1]
    return soft === undefined ? undefined : BigInt(soft)
  } catch {
    return undefined
  }
}
