import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { limitOpenFilesOf } from '../sys/limit-open-files.ts'
import { getOpenFileLimit, type OpenFileLimit, setOpenFileLimit } from '../sys/own-process.ts'
import type { Identity } from '../sys/spawn.ts'

/** Added to the daemon's OOM score for its children: when memory is short, the kernel kills them first (envd.md 8.10). */
const OOM_SCORE_ABOVE_DAEMON = 100
const HIGHEST_OOM_SCORE = 1000
const SCORE_FILE = '/proc/self/oom_score_adj'

/** The OOM score and the limit of open files of users' processes, which differ from the daemon's. A child inherits both from its parent. */
export class ChildLimits {
  readonly #ownScore = readFileSync(SCORE_FILE, 'utf8').trim()
  readonly #childScore = String(Math.min(Number(this.#ownScore) + OOM_SCORE_ABOVE_DAEMON, HIGHEST_OOM_SCORE))
  readonly #scoreFile = openSync(SCORE_FILE, 'w')
  readonly #ownLimit = getOpenFileLimit()
  readonly #childLimit = readChildLimit(this.#ownLimit)

  /**
   * Runs `work` while the daemon itself has the limits, because both belong to whole processes and a child gets those of its parent. A score
   * that was only raised may be lowered again without any capability. If the daemon has more files open than its children may have, it can
   * open none meanwhile, so `work` must have opened all that it needs.
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

  /**
   * Gives the limits to a child with this identity that was perhaps created after `during`, and has not been reaped.
   *
   * @throws the system error: EPERM if the child has changed its ids
   */
  imposeOn(pid: number, identity: Identity): void {
    writeFileSync(`/proc/${pid}/oom_score_adj`, this.#childScore)
    if (readSoftLimit(pid) !== this.#childLimit.soft) limitOpenFilesOf(pid, this.#childLimit, identity)
  }
}

/** Node has raised its soft limit to the hard limit, so the soft limit of the container is read from the parent process. */
function readChildLimit(own: OpenFileLimit): OpenFileLimit {
  const soft = readSoftLimit(process.ppid) ?? own.soft
  return { ...own, soft: soft < own.hard ? soft : own.hard }
}

/** Undefined if the process has ended, or if `/proc` hides it. */
function readSoftLimit(pid: number): bigint | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    return soft === undefined ? undefined : BigInt(soft)
  } catch {
    return undefined
  }
}
