import type { Tally } from './tally.ts'

/** What a run has found, besides the counts of the tally. */
export interface RunResult {
  readonly seconds: number
  /** From the last kill until no row, container, rule or file of abandoned work was left. */
  readonly untilSettledMs: number
  /** From the deletion of everything until nothing was left. */
  readonly untilCleanMs: number
  /** Sandboxes, snapshots and templates that calls without an answer have made. They are deleted like the others. */
  readonly unclaimed: string
}

const SHOWN_FAILURES = 12

/** The tables of a run, in Markdown. */
export function renderTables(tally: Tally, result: RunResult): string {
  const counts = [...tally.counts].sort(([left], [right]) => left.localeCompare(right))
  const kills = [...tally.kills]
  const total = kills.reduce((sum, [, count]) => sum + count, 0)
  const summary = [
    ['operations', `${tally.operations} in ${result.seconds.toFixed(0)} s`],
    ['kills', `${total}: ${kills.map(([kind, count]) => `${kind} ${count}`).join(', ')}`],
    ['lost', String(tally.lost.length)],
    ['orphaned', String(tally.orphaned.length)],
    ['wrong answers', String(tally.wrong.length)],
    ['ended and reported', reported(tally)],
    ['made by calls without an answer', result.unclaimed],
    ['longest time without a create', seconds(tally.longestWithoutCreateMs)],
    ['from the last kill until settled', seconds(result.untilSettledMs)],
    ['from the deletion of everything until clean', seconds(result.untilCleanMs)],
  ]
  const failures = [...tally.failures].sort(([, left], [, right]) => right - left).slice(0, SHOWN_FAILURES)
  return [
    table(
      ['operation', 'acknowledged', 'failed'],
      counts.map(([name, count]) => [name, String(count.acknowledged), String(count.failed)]),
    ),
    table(
      ['most frequent failures of calls', 'count'],
      failures.map(([text, count]) => [text, String(count)]),
    ),
    table(['result', ''], summary),
  ].join('\n\n')
}

function reported(tally: Tally): string {
  const reasons = [...tally.reported.values()]
  const counts = [...new Set(reasons)].map((reason) => `${reason} ${reasons.filter((each) => each === reason).length}`)
  return `${reasons.length}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
