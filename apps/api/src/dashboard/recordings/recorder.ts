import { setTimeout as delay } from 'node:timers/promises'
import { MAX_RECORDING_BYTES, MAX_RECORDING_PARTS, MAX_RECORDING_PENDING_BYTES } from '@sandyard/dashboard-contract/limits'
import { within } from '@sandyard/kit/async/within'
import type { OutputTap } from '../terminals/terminal.ts'
import { castEvent } from './cast-lines.ts'
import type { RecordingPart } from './recording-rows.ts'

export interface RecorderOptions {
  readonly recordingId: string
  /** Of what is stored already. */
  readonly headerBytes: number
  /** Stores a part. May reject: then it is called again with the same one. */
  readonly append: (part: RecordingPart, signal: AbortSignal) => Promise<'stored' | 'full' | 'gone'>
  /** Called once when it ends by itself. Must not throw. */
  readonly onOver: (text: string) => void
  /** Aborts when the server stops and does not wait any more. */
  readonly signal: AbortSignal
}

const PART_BYTES = 64 * 1024
/** How long output waits for more, so that a killed server loses seconds only. */
const FLUSH_AFTER_MS = 2000
/** So that other servers do not take this one for killed. */
const SIGN_EVERY_MS = 60_000
const APPEND_TIMEOUT_MS = 15_000
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [500, 10_000]
/** After the end of what is recorded. */
const GIVE_UP_MS = 10 * 60_000
/** How long the terminal waits for a slow database. Afterwards the recording is cut, and the terminal goes on. */
const STALL_MS = 2000

const CAP_TEXT = 'The recording has reached its largest size and has ended.'
const SLOW_TEXT = 'The recording has ended: the database does not store it fast enough.'
const FULL_TEXT = 'The recording has ended: the recordings of your team have reached their largest size.'
const GONE_TEXT = 'The recording was removed and has ended.'

/** Records what a terminal prints, as lines of an asciicast v2, and stores it in parts. It gets no input, so it never has what was typed unseen. */
export class Recorder implements OutputTap {
  readonly recordingId: string
  /** Resolves when everything is stored, or given up. */
  readonly done: Promise<void>
  readonly #options: RecorderOptions
  readonly #startedAt = performance.now()
  /** A character may come in two pieces. */
  readonly #decoder = new TextDecoder()
  #lines: Buffer[] = []
  #pendingBytes = 0
  #takenBytes: number
  #number = 1
  #endedAt: number | undefined
  #isTruncated = false
  #isOver = false
  #dueAt = performance.now() + SIGN_EVERY_MS
  #wake = new AbortController()
  #changed = Promise.withResolvers<void>()
  /** The terminal has waited in vain. */
  #isStuck = false

  constructor(options: RecorderOptions) {
    this.#options = options
    this.recordingId = options.recordingId
    this.#takenBytes = options.headerBytes
    this.done = this.#run()
  }

  write(bytes: Uint8Array): void {
    if (this.#endedAt !== undefined) return
    const text = this.#decoder.decode(bytes, { stream: true })
    if (text !== '') this.#add('o', text)
  }

  resize(cols: number, rows: number): void {
    this.#add('r', `${cols}x${rows}`)
  }

  async room(signal: AbortSignal): Promise<void> {
    if (!this.#isHalfFull() || this.#isStuck) return
    const waiting = { what: 'storing a recording', timeoutMs: STALL_MS, signal }
    await within(waiting, async () => {
      while (this.#isHalfFull()) await this.#changed.promise
    }).catch(() => (this.#isStuck = true))
  }

  end(): void {
    if (this.#endedAt !== undefined) return
    this.#endedAt = performance.now()
    this.#flushWithin(0)
  }

  #isHalfFull(): boolean {
    return this.#endedAt === undefined && this.#pendingBytes > MAX_RECORDING_PENDING_BYTES / 2
  }

  #add(code: 'o' | 'r', data: string): void {
    if (this.#endedAt !== undefined) return
    const line = castEvent((performance.now() - this.#startedAt) / 1000, code, data)
    if (this.#takenBytes + line.length > MAX_RECORDING_BYTES || this.#number >= MAX_RECORDING_PARTS) return this.#stop(CAP_TEXT)
    if (this.#pendingBytes + line.length > MAX_RECORDING_PENDING_BYTES) return this.#stop(SLOW_TEXT)
    this.#lines.push(line)
    this.#takenBytes += line.length
    this.#pendingBytes += line.length
    this.#flushWithin(this.#pendingBytes >= PART_BYTES ? 0 : FLUSH_AFTER_MS)
  }

  /** Ends it although the terminal goes on. */
  #stop(text: string): void {
    if (this.#endedAt !== undefined) return
    this.#isTruncated = true
    this.end()
    this.#options.onOver(text)
  }

  #flushWithin(ms: number): void {
    const dueAt = performance.now() + ms
    if (dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    this.#wake.abort()
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#options
    let retryMs = FIRST_RETRY_MS
    while (!this.#isOver && !signal.aborted) {
      await this.#untilDue()
      if (signal.aborted) break
      if (await this.#store()) retryMs = FIRST_RETRY_MS
      else {
        if (this.#endedAt !== undefined && performance.now() - this.#endedAt > GIVE_UP_MS) break
        // Output that comes meanwhile makes no haste.
        await delay(retryMs, undefined, { signal }).catch(() => undefined)
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
      }
    }
    this.#lines = []
    this.#tell()
  }

  async #untilDue(): Promise<void> {
    for (let leftMs = this.#dueAt - performance.now(); leftMs > 0; leftMs = this.#dueAt - performance.now()) {
      this.#wake = new AbortController()
      await delay(leftMs, undefined, { signal: AbortSignal.any([this.#wake.signal, this.#options.signal]) }).catch(() => undefined)
      if (this.#options.signal.aborted) return
    }
  }

  /** Stores the next part. False when that failed. */
  async #store(): Promise<boolean> {
    const { recordingId, append, signal } = this.#options
    const lines = firstLines(this.#lines)
    const content = Buffer.concat(lines)
    const isEnd = this.#endedAt !== undefined && lines.length === this.#lines.length
    const part = { recordingId, number: this.#number, content, isEnd, isTruncated: this.#isTruncated }
    const storing = { what: 'storing a part', timeoutMs: APPEND_TIMEOUT_MS, signal }
    const outcome = await within(storing, (ending) => append(part, ending)).catch(() => undefined)
    if (outcome === undefined) return false
    if (outcome !== 'stored') this.#stop(outcome === 'full' ? FULL_TEXT : GONE_TEXT)
    this.#isOver = isEnd || outcome !== 'stored'
    this.#lines.splice(0, lines.length)
    this.#pendingBytes -= content.length
    if (lines.length > 0) this.#number += 1
    const nextMs =
      this.#endedAt !== undefined || this.#pendingBytes >= PART_BYTES ? 0 : this.#pendingBytes > 0 ? FLUSH_AFTER_MS : SIGN_EVERY_MS
    this.#dueAt = performance.now() + nextMs
    this.#isStuck = false
    this.#tell()
    return true
  }

  #tell(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/** At least one, and not much more than a part. */
function firstLines(lines: readonly Buffer[]): readonly Buffer[] {
  let bytes = 0
  let count = 0
  for (const line of lines) {
    bytes += line.length
    if (count > 0 && bytes > PART_BYTES) break
    count += 1
  }
  return lines.slice(0, count)
}
