import { ansiParts } from './ansi-text.ts'
import { markedPieces, type LogRow } from './log-search.ts'
import '../styles/forms.css'

const MOST_CHARACTERS = 20_000

/** The content of one row: text is text, and of ANSI only colours remain. */
export function LogLine({ row, query }: { readonly row: LogRow; readonly query: string }) {
  const { at, level, label, text, fields } = row
  const time = new Date(at)
  return (
    <>
      <time
        class="log-time"
        dateTime={Number.isNaN(at) ? undefined : time.toISOString()}
        title={Number.isNaN(at) ? undefined : time.toISOString()}
      >
        {clockText(time)}
      </time>
      <span class="log-level">{level}</span>
      {label !== undefined && <span class="log-label">{label}</span>}
      <span class="log-text">
        {ansiParts(text.slice(0, MOST_CHARACTERS)).map(({ text: piece, colour, isBold }, index) => (
          <span key={index} class={`${colour === undefined ? '' : `ansi-${colour}`}${isBold ? ' ansi-bold' : ''}`}>
            <Marked text={piece} query={query} />
          </span>
        ))}
        {text.length > MOST_CHARACTERS && ' …'}
        {fields !== undefined &&
          Object.entries(fields).map(([name, value]) => (
            <span key={name} class="log-field">
              {' '}
              {name}=<Marked text={value} query={query} />
            </span>
          ))}
      </span>
    </>
  )
}

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  if (query === '') return <>{text}</>
  return <>{markedPieces(text, query).map((piece, index) => (index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece))}</>
}

/** Local time of the day with milliseconds. */
function clockText(time: Date): string {
  if (Number.isNaN(time.getTime())) return ''
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
