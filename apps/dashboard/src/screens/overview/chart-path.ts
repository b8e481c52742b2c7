/** The outline of an area below steps: `shares` from 0 to 1, one for each equal part of the width. Empty without any. */
export function areaPath(shares: readonly number[], { width, height }: { readonly width: number; readonly height: number }): string {
  if (shares.length === 0) return ''
  const step = width / shares.length
  const round = (value: number): string => String(Math.round(value * 10) / 10)
  const tops = shares.map((share, index) => `L${round(index * step)} ${round(height * (1 - share))}H${round((index + 1) * step)}`)
  return `M0 ${height}${tops.join('')}V${height}Z`
}

/** The end of a scale: at least `most`, and a round number. */
export function niceTop(most: number): number {
  if (most <= 5) return Math.max(1, most)
  const unit = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((factor) => factor * unit).find((top) => top >= most) ?? most
}
