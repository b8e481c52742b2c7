import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { BuildLog, LogLine } from '../build-runner.ts'
import { appendLog, type StoredLine } from './append-log.ts'
import { AttemptLostError, holdAttempt, type Attempt } from './build-attempt.ts'
import { storableText } from './storable-text.ts'

/** Lines are collected for this time and stored together. */
const GATHER_MS = 150
const LINES_AT_ONCE = 1000
const BYTES_AT_ONCE = 1024 ** 2
const RETRY_MS = 1000

const MAX_LINES = 100_000
const MAX_BYTES = 64 * 1024 ** 2
/** Extra room for errors, because they say why a build failed. */
const RESERVE = { lines: 1000, bytes: 4 * 1024 ** 2 }

export interface LogWriterParts {
  readonly database: Database
  readonly log: Logger
  /** Cap for the whole build. Default: 100,000. */
  readonly maxLines?: number
  /** Called when a write finds that the attempt has ended. */
  readonly onLost?: (reason: AttemptLostError) => void
}

/**
 * The log of one attempt. Lines keep their order and, once stored, their sequence numbers. Nothing is stored after the attempt has ended.
 */
export class BuildLogWriter implements BuildLog {
  readonly #parts: LogWriterParts
  readonly #attempt: Attempt
  readonly #over = new AbortController()
  #waiting: StoredLine[] = []
  #storing: Promise<void> | undefined
  #lines: number
  #bytes = 0
  #isFull = false
  #lastTime = 0

  /** @param lines - the number of lines of former attempts */
  constructor(parts: LogWriterParts, attempt: Attempt, lines: number) {
    this.#parts = parts
    this.#attempt = attempt
    this.#lines = lines
  }

  write(line: LogLine): void {
    if (this.#over.signal.aborted || !this.#hasRoom(line)) return
    this.#add(line)
    this.#storing ??= this.#store(GATHER_MS)
  }

  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#storing !== undefined) {
      this.#over.signal.throwIfAborted()
      this.#storing ??= this.#store(0)
      await this.#storing
    }
  }

  /** Ends the log. Returns the lines that are not stored yet; the caller may store them with the end of the build. */
  async close(reason: Error): Promise<readonly StoredLine[]> {
    this.#over.abort(reason)
    await this.#storing
    return this.#waiting.splice(0)
  }

  #add({ level, message, step }: LogLine): void {
    // If the clock is set back, new lines must not sort before lines that clients have read by time.
    this.#lastTime = Math.max(this.#lastTime, Date.now())
    this.#waiting.push({ time: new Date(this.#lastTime), level, message: storableText(message), step })
  }

  #hasRoom({ level, message }: LogLine): boolean {
    const reserve = level === 'error' ? RESERVE : { lines: 0, bytes: 0 }
    const { maxLines = MAX_LINES } = this.#parts
    if (this.#lines < maxLines + reserve.lines && this.#bytes < MAX_BYTES + reserve.bytes) {
      this.#lines += 1
      this.#bytes += message.length
      return true
    }
    if (!this.#isFull) {
      this.#isFull = true
      this.#add({ level: 'warn', message: 'The log of this build has reached its limit: what follows is not kept.' })
    }
    return false
  }

  /** The oldest waiting lines, as many as one statement takes. */
  #next(): readonly StoredLine[] {
    let bytes = 0
    const end = this.#waiting.findIndex(({ message }, index) => index >= LINES_AT_ONCE || (bytes += message.length) > BYTES_AT_ONCE)
    return this.#waiting.slice(0, end === -1 ? undefined : Math.max(1, end))
  }

  /** Stores until no line waits. Never rejects: retries while the database does not answer. */
  async #store(gatherMs: number): Promise<void> {
    const { signal } = this.#over
    try {
      await delay(gatherMs, undefined, { signal }).catch(() => undefined)
      while (this.#waiting.length > 0 && !signal.aborted) {
        const lines = this.#next()
        try {
          await this.#parts.database.transaction(async (tx) => {
            await holdAttempt(tx, this.#attempt)
            await appendLog(tx, this.#attempt.buildId, lines)
          })
          this.#waiting.splice(0, lines.length)
        } catch (err) {
          if (err instanceof AttemptLostError) {
            this.#over.abort(err)
            this.#parts.onLost?.(err)
          } else this.#parts.log.warn({ err, buildId: this.#attempt.buildId }, 'build log could not be stored yet')
          await delay(RETRY_MS, undefined, { signal }).catch(() => undefined)
        }
      }
    } finally {
      this.#storing = undefined
    }
  }
}
