import { describe, expect, it } from 'vitest'
import { ChunkedParser } from './chunked-parser.ts'

interface Seen {
  /** Each piece of the body that the handler got. */
  readonly pieces: string[]
  trailers: readonly string[] | undefined
  readonly parser: ChunkedParser
  /** The code of the error. */
  readonly code: string | undefined
}

function read(reads: readonly string[]): Seen {
  const pieces: string[] = []
  const seen: Pick<Seen, 'trailers'> = { trailers: undefined }
  const handler = {
    onBody: (bytes: Buffer) => void pieces.push(bytes.toString('latin1')),
    onComplete: (trailers: readonly string[]) => void (seen.trailers = trailers),
  }
  const parser = new ChunkedParser(handler)
  let code: string | undefined
  try {
    for (const text of reads) parser.push(Buffer.from(text, 'latin1'), 0)
  } catch (err) {
    code = (err as { code: string }).code
  }
  return { pieces, trailers: seen.trailers, parser, code }
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const LARGE = 'L'.repeat(10_000)

describe('a body in chunks', () => {
  it('has its small chunks of one read joined', () => {
    const { pieces, trailers, parser } = read([chunk('x').repeat(50_000), `${chunk('\xe4')}${chunk('b')}0\r\n\r\n`])
    expect(pieces).toEqual(['x'.repeat(50_000), '\xe4b'])
    expect(trailers).toEqual([])
    expect(parser.isDone).toBe(true)
  })

  it('has large chunks apart from small ones, in their order', () => {
    const { pieces } = read([chunk('a') + chunk('b') + chunk(LARGE) + chunk('c') + chunk(LARGE)])
    expect(pieces).toEqual(['ab', LARGE, 'c', LARGE])
  })

  it('keeps what came before malformed bytes', () => {
    expect(read([`${chunk('a')}${chunk('b')}x\r\n`])).toMatchObject({ pieces: ['ab'], code: 'HPE_INVALID_CHUNK_SIZE' })
  })

  it('tells whether a read had tiny chunks', () => {
    expect(read([chunk('x').repeat(100)]).parser.hasTinyChunks).toBe(true)
    expect(read([chunk('x'.repeat(100)).repeat(100)]).parser.hasTinyChunks).toBe(false)
    expect(read([chunk('x').repeat(100), LARGE.length.toString(16), `\r\n${LARGE}`]).parser.hasTinyChunks).toBe(false)
  })
})

describe('trailers', () => {
  it('that fit are read', () => {
    expect(read(['0\r\nX-Sum: 1\r\n\r\n']).trailers).toEqual(['X-Sum', '1'])
  })

  it.each(['Content-Length: 3', 'Transfer-Encoding: chunked', 'x: 1\r\ncontent-length: 0'])(
    'with %j are refused, because parsers read them differently',
    (lines) => {
      expect(read([`0\r\n${lines}\r\n\r\n`])).toMatchObject({ trailers: undefined, code: 'HPE_INVALID_TRANSFER_ENCODING' })
    },
  )

  it('over the cap are refused, also before their end', () => {
    expect(read([`0\r\nX: ${'y'.repeat(17_000)}`]).code).toBe('HPE_HEADER_OVERFLOW')
  })
})
