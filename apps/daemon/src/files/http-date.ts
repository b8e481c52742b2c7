const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The three forms that RFC 9110 obliges a server to read: IMF-fixdate, RFC 850 and asctime. */
const FORMS = [
  /^\w{3}, (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^\w{6,9}, (?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
]

/** Unix seconds of an HTTP date; undefined for anything else, which then is no condition. */
export function parseHttpDate(text: string): number | undefined {
  const groups = FORMS.map((form) => form.exec(text)?.groups).find((match) => match !== undefined)
  if (groups === undefined) return undefined
  const { day = '', month = '', year = '', time = '' } = groups
  const [hours = NaN, minutes = NaN, seconds = NaN] = time.split(':').map(Number)
  const monthIndex = MONTHS.indexOf(month)
  if (monthIndex < 0 || hours > 23 || minutes > 59 || seconds > 59) return undefined
  return Date.UTC(fullYear(year), monthIndex, Number(day), hours, minutes, seconds) / 1000
}

/** Two digits are of the years 1969 to 2068. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year)
  return Number(year) >= 69 ? 1900 + Number(year) : 2000 + Number(year)
}
