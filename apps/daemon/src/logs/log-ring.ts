import { randomUUID } from 'node:crypto'

type LogFields = Readonly<Record<string, string | number>>

/** A log entry of the sandbox. It never contains values of variables or output of processes. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** An entry as it is sent: with its number, from 1 without gaps, and its time in Unix milliseconds. */
export interface NumberedEntry extends LogEntry {
  readonly n: number
  readonly at: number
}

const MAX_ENTRIES = 1000
const MAX_BYTES = 256 * 1024

interface Kept {
  readonly entry: NumberedEntry
  readonly bytes: number
}

/** The newest log entries of this run of the daemon, until the control plane reads them. Over its caps it drops the oldest. */
export class LogRing {
  #boot: string | undefined
  #kept: Kept[] = []
  #bytes = 0
  #last = 0

  /** Identifies this run: numbers of another run mean nothing here. Made at the first use, because its library takes milliseconds to load. */
  get boot(): string {
    this.#boot ??= randomUUID()
    return this.#boot
  }

  append(entry: LogEntry): void {
    this.#last += 1
    const numbered = { n: this.#last, at: Date.now(), ...entry }
    const bytes = Buffer.byteLength(JSON.stringify(numbered))
    this.#kept.push({ entry: numbered, bytes })
    this.#bytes += bytes
    while (this.#kept.length > MAX_ENTRIES || this.#bytes > MAX_BYTES) this.#bytes -= this.#kept.shift()?.bytes ?? 0
  }

  /** The kept entries after a number of the run `boot`; all of them when `boot` is another run. */
  after(boot: string, place: number): NumberedEntry[] {
    const from = boot === this.boot ? place : 0
    return this.#kept.filter(({ entry }) => entry.n > from).map(({ entry }) => entry)
  }
}
