/**
 * A reader of `Content-Transfer-Encoding: quoted-printable` (RFC 2045 6.7), as lenient as upstream's: a `=` before anything but two
 * digits or the end of its line is literal, bytes beyond ASCII are data, and both kinds of line ends are kept.
 */
import { UndecodableBody } from './gunzip.ts'
import { quoted } from './quoted.ts'

const LINE_FEED = 0x0a
/** The longest line that is read, with its end. */
const MAX_LINE_BYTES = 4096

interface Line {
  /** Bytes as characters (latin1), and its end if there is one. */
  readonly text: string
  readonly isLast: boolean
}

/** @throws UndecodableBody after the bytes before the fault; errors of `encoded` */
export async function* decodeQuotedPrintable(encoded: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const line of readLines(encoded)) {
    const { text, failure } = decodeLine(line)
    if (text !== '') yield Buffer.from(text, 'latin1')
    if (failure !== undefined) throw new UndecodableBody(failure)
  }
}

async function* readLines(encoded: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of encoded) {
    pending = Buffer.concat([pending, chunk])
    for (let end = pending.indexOf(LINE_FEED); end >= 0; end = pending.indexOf(LINE_FEED)) {
      yield* shortLine(pending.subarray(0, end + 1), false)
      pending = pending.subarray(end + 1)
    }
    if (pending.length > MAX_LINE_BYTES) yield* shortLine(pending, false)
  }
  if (pending.length > 0) yield* shortLine(pending, true)
}

function* shortLine(bytes: Buffer, isLast: boolean): Generator<Line> {
  yield { text: bytes.toString('latin1', 0, MAX_LINE_BYTES), isLast }
  if (bytes.length > MAX_LINE_BYTES) throw new UndecodableBody('bufio: buffer full')
}

/** The data of a line, up to an error if there is one. White space before the end of a line is not data. */
function decodeLine({ text, isLast }: Line): { text: string; failure?: string } {
  const content = text.replace(/[ \t\r\n]+$/, '')
  if (!content.endsWith('=')) return decodeContent(content, /\r?\n$/.exec(text)?.[0] ?? '')
  const before = content.slice(0, -1)
  const decoded = decodeContent(before, '')
  const after = text.slice(content.length).replace(/^[ \t]+/, '')
  const isSoftBreak = /^\r?\n/.test(after) || (after === '' && before !== '' && isLast)
  if (isSoftBreak || decoded.failure !== undefined) return decoded
  return { text: decoded.text, failure: `quotedprintable: invalid bytes after =: ${quoted(after)}` }
}

function decodeContent(content: string, lineEnd: string): { text: string; failure?: string } {
  const fault = /=\r|=$|[^\t\r\x20-\x7e\x80-\xff]/.exec(content)
  const text = content
    .slice(0, fault?.index)
    .replaceAll(/=([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  if (fault === null) return { text: text + lineEnd }
  const [what] = fault
  if (what === '=') return { text, failure: 'unexpected EOF' }
  if (what === '=\r') return { text, failure: 'quotedprintable: invalid hex byte 0x0d' }
  return { text, failure: `quotedprintable: invalid unescaped byte 0x${what.charCodeAt(0).toString(16).padStart(2, '0')} in body` }
}
