const FORM = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/
const MICROSECOND_DIGITS = 6

/** An RFC 3339 time in UTC with exactly six digits of a second, which Postgres reads without loss; undefined when it is none. */
export function parseRfc3339(text: string): string | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = '', zone = ''] = match
  const seconds = new Date(`${date}T${time}${zone.toUpperCase()}`)
  if (Number.isNaN(seconds.getTime()) || !isDayOfMonth(date) || !hasFourDigits(seconds.getUTCFullYear())) return undefined
  const micros = fraction.padEnd(MICROSECOND_DIGITS, '0').slice(0, MICROSECOND_DIGITS)
  return seconds.toISOString().replace(/\.\d+Z$/, `.${micros}Z`)
}

/** In UTC: an offset can carry a time out of the years that RFC 3339 can write. */
function hasFourDigits(year: number): boolean {
  return year >= 1 && year <= 9999
}

/** Date accepts the 31st of every month. */
function isDayOfMonth(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
}
