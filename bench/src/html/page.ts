import { formatGoal } from '../goal.ts'
import { formatMachine } from '../machine.ts'
import { toRow } from '../report.ts'
import type { Measured, ResultsFile } from '../results-file.ts'
import { quantile, type Samples } from '../samples.ts'
import { escape } from './escape.ts'
import { formatNumber } from './format-number.ts'
import { renderPlot } from './plot.ts'
import { STYLE } from './style.ts'

/** A run as one HTML page without scripts: what was measured, whether the goals were met, and all distributions. */
export function renderPage({ machine, rows, comparisons, missing = {} }: ResultsFile): string {
  const met = rows.filter((row) => row.met === true).length
  const missed = rows.filter((row) => row.met === false).length
  const cards = comparisons.map((comparison, index) => renderCard(comparison, index, comparison.bench !== comparisons[index - 1]?.bench))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandyard benchmarks, ${escape(machine.date.slice(0, 10))}</title><style>${STYLE}</style></head><body>
<header><h1>Sandyard benchmarks</h1>
<p>${escape(formatMachine(machine))}<br><time>${escape(machine.date)}</time></p>
<p class="summary"><b class="met">${met} goals met</b> <b class="${missed > 0 ? 'missed' : 'quiet'}">${missed} missed</b> <span>${rows.length} rows</span></p>
<p class="legend"><i class="ours"></i> ours <i class="other"></i> what it is compared with, measured in turn with ours.
Each dot is a repetition; more than 120 are a histogram. Lines: p50 (solid), p95 (dashed), p99 (dotted).</p></header>
${renderSummary(rows, comparisons)}
<main>${cards.join('\n')}</main>
${Object.entries(missing)
  .map(([name, reason]) => `<p class="absent"><b>${escape(name)}</b> was not measured: ${escape(reason)}</p>`)
  .join('\n')}
</body></html>
`
}

/** Every row with a goal, as links to the plots. */
function renderSummary(rows: ResultsFile['rows'], comparisons: readonly Measured[]): string {
  const lines = rows.flatMap(({ what, unit, ours, against, ratio, goal, met }, index) => {
    if (goal === undefined) return []
    const name = `${escape(what)}${against === undefined ? '' : ` <small>to ${escape(against.name)}</small>`}`
    const cells = [
      `<td>${renderBadge(met)}</td><td><a href="#row-${index}">${name}</a></td>`,
      `<td>${formatNumber(ours.p50)} <small>${escape(unit)}</small></td>`,
      `<td>${ratio === undefined ? '' : formatNumber(ratio.p50)}</td><td>${escape(goal)}</td>`,
    ]
    return [`<tr>${cells.join('')}</tr>`]
  })
  if (lines.length === 0 || comparisons.length === 0) return ''
  return `<table class="goals"><thead><tr><th></th><th>row</th><th>ours, p50</th><th>ratio, p50</th><th>goal</th></tr></thead><tbody>${lines.join('\n')}</tbody></table>`
}

function renderCard(comparison: Measured, index: number, isFirst: boolean): string {
  const { bench, what, ours, against, goal, unit, cpuMs } = comparison
  const { met } = toRow(comparison)
  const sides: [string, Samples][] = [['ours', ours]]
  if (against !== undefined) sides.push([against.name, against.samples])
  const lines = sides.map(([name, samples], side) => {
    const cells = [0.5, 0.95, 0.99].map((share) => `<td>${formatNumber(quantile(samples, share))}</td>`)
    return `<tr class="${side === 0 ? 'ours' : 'other'}"><th>${escape(name)}</th>${cells.join('')}<td>${samples.length}</td></tr>`
  })
  if (against !== undefined) {
    const cells = [0.5, 0.95, 0.99].map((share) => `<td>${formatNumber(quantile(ours, share) / quantile(against.samples, share))}</td>`)
    lines.push(`<tr><th>ratio</th>${cells.join('')}<td></td></tr>`)
  }
  const cpu = cpuMs === undefined ? '' : ` CPU each: ${formatNumber(mean(cpuMs.ours))} ms, ${formatNumber(mean(cpuMs.against))} ms.`
  return `${isFirst && bench !== undefined ? `<h2>${escape(bench)}</h2>` : ''}<section id="row-${index}"><h3>${escape(what)}</h3>
<p class="goal">${goal === undefined ? 'No goal.' : `${renderBadge(met)} Goal: ${escape(formatGoal(goal))}.`}${cpu}</p>
${renderPlot(comparison)}
<table><thead><tr><th>${escape(unit)}</th><th>p50</th><th>p95</th><th>p99</th><th>n</th></tr></thead><tbody>${lines.join('')}</tbody></table></section>`
}

function renderBadge(met: boolean | undefined): string {
  if (met === undefined) return ''
  return met ? '<b class="met">met</b>' : '<b class="missed">missed</b>'
}

function mean(samples: Samples): number {
  return samples.reduce((sum, value) => sum + value, 0) / samples.length
}
