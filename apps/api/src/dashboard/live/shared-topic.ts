import { setTimeout as delay } from 'node:timers/promises'
import { within } from '@sandyard/kit/async/within'
import type { Change } from './change-feed.ts'
import type { LiveTopic, TopicReader } from './live-topic.ts'

/** More has changed than a patch can tell. */
export const GAP = Symbol('gap')

/** Where a topic comes from. `Kept` is what the server remembers of the last read, so it should be small. */
export interface TopicSource<Whole, Kept, Patch> {
  /** @throws AppError for what does not exist or may not be seen */
  read(signal: AbortSignal): Promise<Whole>
  /** Less than `read`, when only what is new is wanted. Default: `read`. */
  readNew?(kept: Kept, signal: AbortSignal): Promise<Whole>
  keep(whole: Whole, before: Kept | undefined): Kept
  changes(kept: Kept, whole: Whole): Patch | typeof GAP | undefined
  hears(change: Change): boolean
  /** Of what is changed without a notification. */
  readonly everyMs?: number
}

/** Runs a read in turn with the others of its team. */
export type ReadInTurn = <T>(work: () => Promise<T>) => Promise<T>

const READ_TIMEOUT_MS = 10_000
/** Changes that come close together are one read. */
const PAUSE_MS = 150
const RETRY_MS = 2000

/** A topic that is read once for all pages that show it, whenever it may have changed. */
export class SharedTopic<Whole, Kept, Patch> implements LiveTopic {
  readonly #source: TopicSource<Whole, Kept, Patch>
  readonly #inTurn: ReadInTurn
  /** False: it waits for its snapshot. */
  readonly #readers = new Map<TopicReader, boolean>()
  readonly #ending = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  #kept: Kept | undefined
  #isDirty = false
  #isRunning = false

  constructor(source: TopicSource<Whole, Kept, Patch>, inTurn: ReadInTurn) {
    this.#source = source
    this.#inTurn = inTurn
    if (source.everyMs !== undefined) this.#timer = setInterval(() => this.#wake(), source.everyMs)
  }

  join(reader: TopicReader): void {
    this.#readers.set(reader, false)
    this.#run()
  }

  leave(reader: TopicReader): void {
    this.#readers.delete(reader)
  }

  hear(change: Change): void {
    if (change.kind === 'all' || this.#source.hears(change)) this.#wake()
  }

  end(): void {
    this.#ending.abort()
    clearInterval(this.#timer)
    this.#readers.clear()
  }

  #wake(): void {
    this.#isDirty = true
    this.#run()
  }

  #run(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#passes().finally(() => (this.#isRunning = false))
  }

  /** Never rejects. */
  async #passes(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted && (this.#isDirty || this.#joiners().length > 0)) {
      this.#isDirty = false
      const isRead = await this.#pass(this.#joiners())
      if (!isRead) this.#isDirty = true
      await delay(isRead ? PAUSE_MS : RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  #joiners(): TopicReader[] {
    return [...this.#readers].flatMap(([reader, isLive]) => (isLive ? [] : [reader]))
  }

  /** False when nothing could be read and readers still wait for news. */
  async #pass(joiners: readonly TopicReader[]): Promise<boolean> {
    try {
      const kept = this.#kept
      const whole = await this.#inTurn(() =>
        within({ what: 'A live topic', timeoutMs: READ_TIMEOUT_MS, signal: this.#ending.signal }, (signal) =>
          kept === undefined || joiners.length > 0 ? this.#source.read(signal) : this.#readNew(kept, signal),
        ),
      )
      if (kept !== undefined) this.#sendChanges(this.#source.changes(kept, whole))
      this.#kept = this.#source.keep(whole, kept)
      for (const joiner of joiners) this.#begin(joiner, whole)
      return true
    } catch (err) {
      if (this.#ending.signal.aborted) return true
      for (const joiner of joiners) this.#drop(joiner, (reader) => reader.fail(err))
      return this.#readers.size === 0
    }
  }

  #readNew(kept: Kept, signal: AbortSignal): Promise<Whole> {
    return this.#source.readNew?.(kept, signal) ?? this.#source.read(signal)
  }

  #begin(joiner: TopicReader, whole: Whole): void {
    // It may have left while its snapshot was read.
    if (!this.#readers.has(joiner)) return
    this.#readers.set(joiner, true)
    joiner.snapshot(whole)
  }

  #sendChanges(patch: Patch | typeof GAP | undefined): void {
    if (patch === undefined) return
    for (const [reader, isLive] of this.#readers) {
      if (!isLive) continue
      if (patch === GAP) this.#drop(reader, () => reader.gap())
      else reader.patch(patch)
    }
  }

  #drop(reader: TopicReader, tell: (reader: TopicReader) => void): void {
    if (this.#readers.delete(reader)) tell(reader)
  }
}
