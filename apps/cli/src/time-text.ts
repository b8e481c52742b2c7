const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** A duration in its two largest units: `2h 5m`. Negative ones are `0s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const first = UNITS.findIndex(([, size]) => whole >= size)
  if (first === -1) return '0s'
  const parts: string[] = []
  let rest = whole
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join(' ')
}

/** How long ago a time was: `5m 2s ago`. */
export function agoText(time: string | Date, now: number = Date.now()): string {
  return `${durationText((now - new Date(time).getTime()) / 1000)} ago`
}

export function untilText(time: string | Date, now: number = Date.now()): string {
  return durationText((new Date(time).getTime() - now) / 1000)
}
