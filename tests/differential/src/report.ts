import type { Comparison } from './run-scenario.ts'
import { findKnownDifference } from './known-differences.ts'
import type { WireRequest } from './wire/exchange.ts'

const SHOWN = 40

/** Counts comparisons and collects unexplained differences. */
export class Report {
  readonly unexplained: object[] = []
  #requests = 0
  #scripts = 0
  #others = 0
  #equal = 0
  #known = 0
  readonly #byReason = new Map<string, number>()
  readonly #byArea = new Map<string, number>()

  add(comparison: Comparison): void {
    const { area, what, request, requests, differences } = comparison
    if (what === 'request') this.#requests += 1
    else if (what === 'script') this.#scripts += 1
    else this.#others += 1
    increase(this.#byArea, area)
    const explained = differences.map((difference) => findKnownDifference({ difference, all: differences, request, requests }))
    for (const id of new Set(explained.map((known) => known?.id))) if (id !== undefined) increase(this.#byReason, id)
    const open = differences.filter((_, index) => explained[index] === undefined)
    if (differences.length === 0) this.#equal += 1
    else if (open.length === 0) this.#known += 1
    else this.unexplained.push({ area, what, request: showRequest(request ?? requests.at(-1)), differences: open })
  }

  /** The number of comparisons. */
  get size(): number {
    return this.#requests + this.#scripts + this.#others
  }

  /** The last lines of a run. */
  summary(): string {
    return [
      ...this.unexplained.slice(0, SHOWN).map((entry) => JSON.stringify(entry, undefined, 1)),
      'by area:',
      ...lines(this.#byArea),
      'known differences, by reason:',
      ...lines(this.#byReason),
      `${this.#requests} requests, ${this.#scripts} scripts and ${this.#others} trees and watches compared:` +
        ` ${this.#equal} equal, ${this.#known} with known differences only, ${this.unexplained.length} unexplained`,
    ].join('\n')
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function lines(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => `  ${String(count).padStart(6)}  ${key}`)
}

function showRequest(request: WireRequest | undefined): string {
  if (request === undefined) return ''
  const headers = request.headers.map(([name, value]) => `${name}: ${value.slice(0, 200)}`).join('; ')
  return `${request.method} ${request.target.slice(0, 400)} [${headers}] ${request.body?.toString('latin1').slice(0, 400) ?? ''}`
}
