import type { PartKind } from './stack/part.ts'

const SHOWN = 20

/** What one kind of operation did. */
export interface OperationCount {
  acknowledged: number
  /** Without an answer, or with one that says that it did not happen. */
  failed: number
}

/** Counts what happens in a run. */
export class Tally {
  readonly counts = new Map<string, OperationCount>()
  readonly kills = new Map<PartKind, number>()
  /** Acknowledged things that are gone without a report. */
  readonly lost: string[] = []
  /** Answers that contradict what was acknowledged. */
  readonly wrong: string[] = []
  /** Things that nothing owns after the end. */
  readonly orphaned: string[] = []
  /** The reasons of sandboxes that the server has reported as ended: only a kill of the engine may end them. */
  readonly reported = new Map<string, string>()
  /** Messages of failed calls, with their numbers. */
  readonly failures = new Map<string, number>()
  #operations = 0
  #lastCreateAt = performance.now()
  #longestWithoutCreateMs = 0
  #lastKillAt = performance.now()

  get operations(): number {
    return this.#operations
  }

  get longestWithoutCreateMs(): number {
    return this.#longestWithoutCreateMs
  }

  /** `performance.now()` of the last kill. */
  get lastKillAt(): number {
    return this.#lastKillAt
  }

  /** The clients begin now. */
  begin(): void {
    this.#lastCreateAt = performance.now()
  }

  acknowledged(operation: string): void {
    this.#of(operation).acknowledged += 1
    this.#operations += 1
    if (operation !== 'create') return
    const now = performance.now()
    this.#longestWithoutCreateMs = Math.max(this.#longestWithoutCreateMs, now - this.#lastCreateAt)
    this.#lastCreateAt = now
  }

  failed(operation: string, error: unknown): void {
    this.#of(operation).failed += 1
    this.#operations += 1
    const text = `${operation}: ${messageOf(error)}`
    this.failures.set(text, (this.failures.get(text) ?? 0) + 1)
  }

  killed(kind: PartKind): void {
    this.kills.set(kind, (this.kills.get(kind) ?? 0) + 1)
    this.#lastKillAt = performance.now()
  }

  /** Whether nothing was lost, orphaned or answered wrongly. */
  get isClean(): boolean {
    return this.lost.length + this.orphaned.length + this.wrong.length === 0
  }

  /** The first faults of each kind, one line each. */
  faults(): string[] {
    return Object.entries({ lost: this.lost, orphaned: this.orphaned, wrong: this.wrong }).flatMap(([kind, all]) => [
      ...all.slice(0, SHOWN).map((text) => `${kind}: ${text}`),
      ...(all.length > SHOWN ? [`${kind}: and ${all.length - SHOWN} more`] : []),
    ])
  }

  #of(operation: string): OperationCount {
    const count = this.counts.get(operation) ?? { acknowledged: 0, failed: 0 }
    this.counts.set(operation, count)
    return count
  }
}

/** Without ids and times, so that equal failures are counted together. */
function messageOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } }
  const text = `${name}: ${message}`.replaceAll(/\b[a-z0-9]{19,}\b/g, '<id>').replaceAll(/\d+(\.\d+)? ?ms/g, '<ms>')
  return `${text}${cause?.code === undefined ? '' : ` (${cause.code})`}`.slice(0, 160)
}
