const HOURS = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 2 })
const MANY = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** `0`, `0.012`, `4.5`, `1,204.3`: small times do not become 0. */
export function hoursText(hours: number): string {
  return hours < 10 ? HOURS.format(hours) : MANY.format(hours)
}
