/** Three digits, without an exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 6 })
}
