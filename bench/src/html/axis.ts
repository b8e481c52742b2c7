/** A mapping of values to positions, 0 to 1. */
export interface Axis {
  readonly isLogarithmic: boolean
  readonly ticks: readonly number[]
  /** Values outside of the axis are at its ends. */
  position(value: number): number
}

/** A wider range of positive values gets a logarithmic axis. */
const WIDE = 30
const TICKS = 6

/** An axis that has all of `values`; one of positive values with a small range begins at 0. */
export function axisOf(values: readonly number[]): Axis {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b)
  const [least = 0, most = 1] = [sorted[0], sorted.at(-1)]
  return least > 0 && most / least > WIDE ? logarithmic(least, most) : linear(Math.min(0, least), Math.max(most, least + 1e-9, 1e-9))
}

function linear(least: number, most: number): Axis {
  const step = niceStep((most - least) / TICKS)
  const [from, to] = [Math.floor(least / step) * step, Math.ceil(most / step) * step]
  const ticks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => round(from + index * step))
  return { isLogarithmic: false, ticks, position: (value) => clamp((value - from) / (to - from)) }
}

function logarithmic(least: number, most: number): Axis {
  const all = Array.from({ length: 24 }, (_, index) => index - 12).flatMap((power) => [1, 2, 5].map((digit) => round(digit * 10 ** power)))
  const first = all.findLastIndex((value) => value <= least)
  const last = all.findIndex((value) => value >= most)
  const [from = least, to = most] = [all[first], all[last]]
  const inside = all.slice(first, last + 1)
  const ticks = inside.length > 10 ? inside.filter((value) => /^0*\.?0*1/.test(String(value)) || value === from || value === to) : inside
  return { isLogarithmic: true, ticks, position: (value) => clamp(Math.log(value / from) / Math.log(to / from)) }
}

function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  return [1, 2, 5, 10].map((digit) => digit * power).find((nice) => nice >= step) ?? step
}

function round(value: number): number {
  return Number(value.toPrecision(10))
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}
