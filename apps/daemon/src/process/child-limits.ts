import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { getOpenFileLimit, limitOpenFilesOf, type OpenFileLimit, setOpenFileLimit } from '../sys/own-process.ts'

/** How much earlier than the daemon a user's process goes when memory is short (envd.md 8.10); no score is above the highest. */
const OOM_SCORE_ABOVE_DAEMON = 100
const HIGHEST_OOM_SCORE = 1000
const SCORE_FILE = '/proc/self/oom_score_adj'

/** The limits that a user's process has in place of the daemon's. A child takes them from its parent at its start. */
export class ChildLimits {
  readonly #ownScore = readFileSync(SCORE_FILE, 'utf8').trim()
  readonly #childScore = String(Math.min(Number(this.#ownScore) + OOM_SCORE_ABOVE_DAEMON, HIGHEST_OOM_SCORE))
  readonly #scoreFile = openSync(SCORE_FILE, 'w')
  readonly #ownLimit = getOpenFileLimit()
  readonly #childLimit = readChildLimit(this.#ownLimit)

  /**
   * Runs `work` while the daemon has the limits itself: a score that was only raised may be lowered again without any capability. The daemon
   * may have more files open than its children may; nothing can be opened meanwhile then, so `work` has all that it needs.
   */
  during<T>(work: () => T): T {
    writeSync(this.#scoreFile, this.#childScore)
    try {
      setOpenFileLimit(this.#childLimit)
      return work()
    } finally {
      setOpenFileLimit(this.#ownLimit)
      writeSync(this.#scoreFile, this.#ownScore)
    }
  }

  /** Gives the limits to a child that may have been made after `during`. Best effort: it may have ended. */
  imposeOn(pid: number): void {
    try {
      writeFileSync(`/proc/${pid}/oom_score_adj`, this.#childScore)
      limitOpenFilesOf(pid, this.#childLimit)
    } catch {}
  }
}

/** Node has raised its soft limit to the hard one; its parent still has what the container was given, and may have been allowed more. */
function readChildLimit(own: OpenFileLimit): OpenFileLimit {
  const soft = readParentSoftLimit() ?? own.soft
  return { ...own, soft: soft < own.hard ? soft : own.hard }
}

function readParentSoftLimit(): bigint | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${process.ppid}/limits`, 'utf8'))?.[1]
    return soft === undefined ? undefined : BigInt(soft)
  } catch {
    return undefined
  }
}
