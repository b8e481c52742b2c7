const FORM = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/
const MICROSECOND_DIGITS = 6

/** Converts an RFC 3339 time to UTC with six digits of a second, which Postgres reads without loss. Undefined for other text. */
export function parseRfc3339(text: string): string | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = '', zone = ''] = match
  const seconds = new Date(`${date}T${time}${zone.toUpperCase()}`)
  if (Number.isNaN(seconds.getTime()) || !isDayOfMonth(date) || !hasFourDigits(seconds.getUTCFullYear())) return undefined
  const micros = fraction.padEnd(MICROSECOND_DIGITS, '0').slice(0, MICROSECOND_DIGITS)
  return seconds.toISOString().replace(/\.\d+Z$/, `.${micros}Z`)
}

/** Whether RFC 3339 can express a year. An offset can move a time out of these years. */
function hasFourDigits(year: number): boolean {
  return year >= 1 && year <= 9999
}

/** `Date` accepts the 31st of every month. */
function isDayOfMonth(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
}
