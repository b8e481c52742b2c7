import type { Measured } from '../results-file.ts'
import { quantile, type Samples } from '../samples.ts'
import { axisOf, type Axis } from './axis.ts'
import { escape } from './escape.ts'
import { formatNumber } from './format-number.ts'

const WIDTH = 760
const LEFT = 118
const RIGHT = 18
const LANE = 62
const BAR_HEIGHT = 40
/** More samples than this are drawn as a histogram. */
const MOST_DOTS = 120
const BINS = 80
const DOT = 3
const QUANTILES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const

interface Lane {
  readonly name: string
  readonly side: 'ours' | 'other'
  readonly samples: Samples
}

/** The distribution of both sides on one axis, as SVG whose colours are those of the page. */
export function renderPlot({ what, unit, ours, against }: Measured): string {
  const lanes: Lane[] = [{ name: 'ours', side: 'ours', samples: ours }]
  if (against !== undefined) lanes.push({ name: against.name, side: 'other', samples: against.samples })
  const axis = axisOf(lanes.flatMap(({ samples }) => samples))
  const height = lanes.length * LANE + 34
  const parts = [
    ...axis.ticks.map((tick) => renderTick(axis, tick, lanes.length * LANE)),
    ...lanes.map((lane, index) => renderLane(lane, axis, index * LANE)),
    `<text class="unit" x="${WIDTH - RIGHT}" y="${height - 3}" text-anchor="end">${escape(unit)}${axis.isLogarithmic ? ', logarithmic' : ''}</text>`,
  ]
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(what)}">${parts.join('')}</svg>`
}

function renderTick(axis: Axis, tick: number, bottom: number): string {
  const x = toX(axis, tick)
  return `<line class="grid" x1="${x}" x2="${x}" y1="6" y2="${bottom}"/><text class="tick" x="${x}" y="${bottom + 14}" text-anchor="middle">${formatNumber(tick)}</text>`
}

function renderLane({ name, side, samples }: Lane, axis: Axis, top: number): string {
  const base = top + LANE - 8
  const shape = samples.length > MOST_DOTS ? renderHistogram(samples, axis, base) : renderDots(samples, axis, base)
  const marks = QUANTILES.map(([label, share]) => renderMark(label, quantile(samples, share), { axis, top, base }))
  return `<g class="${side}"><text class="name" x="0" y="${base - 12}">${escape(shorten(name))}</text>
    <line class="base" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/>${shape}${marks.join('')}</g>`
}

function renderMark(label: string, value: number, { axis, top, base }: { axis: Axis; top: number; base: number }): string {
  if (!Number.isFinite(value)) return ''
  const x = toX(axis, value)
  return `<g class="mark ${label}"><title>${label} ${formatNumber(value)}</title><line x1="${x}" x2="${x}" y1="${top + 8}" y2="${base + 3}"/></g>`
}

/** Equal bins; the height is the share of the fullest one. */
function renderHistogram(samples: Samples, axis: Axis, base: number): string {
  const counts = Array<number>(BINS).fill(0)
  for (const value of samples) {
    const bin = Math.min(BINS - 1, Math.floor(axis.position(value) * BINS))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  const most = Math.max(...counts)
  const width = (WIDTH - LEFT - RIGHT) / BINS
  const bars = counts.map((count, bin) => {
    if (count === 0) return ''
    const height = Math.max(1, (count / most) * BAR_HEIGHT)
    return `<rect x="${fix(LEFT + bin * width)}" y="${fix(base - height)}" width="${fix(width - 0.6)}" height="${fix(height)}"><title>${count} of ${samples.length}</title></rect>`
  })
  return bars.join('')
}

/** Dots that would cover each other are stacked; many in one place overlap evenly. */
function renderDots(samples: Samples, axis: Axis, base: number): string {
  const stacks = new Map<number, number>()
  const placed = samples.filter(Number.isFinite).map((value) => {
    const x = toX(axis, value)
    const column = Math.round(x / (DOT * 2))
    const below = stacks.get(column) ?? 0
    stacks.set(column, below + 1)
    return { value, x, below }
  })
  const step = Math.min(DOT * 2, BAR_HEIGHT / Math.max(1, ...stacks.values()))
  const dots = placed.map(
    ({ value, x, below }) =>
      `<circle cx="${x}" cy="${fix(base - DOT - below * step)}" r="${DOT}"><title>${formatNumber(value)}</title></circle>`,
  )
  return dots.join('')
}

function toX(axis: Axis, value: number): number {
  return fix(LEFT + axis.position(value) * (WIDTH - LEFT - RIGHT))
}

function fix(value: number): number {
  return Number(value.toFixed(1))
}

function shorten(name: string): string {
  return name.length > 15 ? `${name.slice(0, 14)}…` : name
}
