const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

const TIME = String.raw`(?<time>\d{1,2}:\d\d:\d\d)(?:[.,]\d+)?`
/** The three forms that RFC 9110 obliges a server to read: IMF-fixdate, RFC 850 and asctime. Several spaces are accepted, as upstream does. */
const FORMS = [
  String.raw`\w{3}, +(?<day>\d\d) +(?<month>\w{3}) +(?<year>\d{4}) +${TIME} +GMT`,
  String.raw`\w{6,9}, +(?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) +${TIME} +GMT`,
  String.raw`\w{3} +(?<month>\w{3}) +(?<day>\d{1,2}) +${TIME} +(?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`))

/** Unix seconds of an HTTP date; undefined for anything else, which is ignored as a condition. */
export function parseHttpDate(text: string): number | undefined {
  if (text === '') return undefined
  const groups = FORMS.map((form) => form.exec(text)?.groups).find((match) => match !== undefined)
  if (groups === undefined) return undefined
  const { day = '', month = '', year = '', time = '' } = groups
  const [hours = NaN, minutes = NaN, seconds = NaN] = time.split(':').map(Number)
  const monthIndex = MONTHS.indexOf(month)
  if (monthIndex < 0 || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const date = new Date(Date.UTC(fullYear(year), monthIndex, Number(day), hours, minutes, seconds))
  // `Date.UTC` moves day 31 of a shorter month into the next month.
  return date.getUTCMonth() === monthIndex ? date.getTime() / 1000 : undefined
}

/** Two digits mean the years 1969 to 2068. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year)
  return Number(year) >= 69 ? 1900 + Number(year) : 2000 + Number(year)
}
