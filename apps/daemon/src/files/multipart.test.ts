import { describe, expect, it } from 'vitest'
import { readParts } from './multipart.ts'
import { CutBody } from './request-body.ts'

const head = (disposition: string) => `--XX\r\nContent-Disposition: ${disposition}\r\n\r\n`

/** The body in pieces of a size, as a network may deliver it. */
async function* inPieces(body: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body, 'latin1')
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function parse(body: string, { size = 65_536, skip = false } = {}): Promise<[string | undefined, string][]> {
  const parts: [string | undefined, string][] = []
  for await (const part of readParts(inPieces(body, size), 'XX')) {
    const chunks = skip ? [] : await Array.fromAsync(part.body)
    parts.push([part.headers.get('content-disposition'), Buffer.concat(chunks).toString('latin1')])
  }
  return parts
}

describe('readParts', () => {
  it.each<[string, string, [string, string][]]>([
    ['one part', `${head('a')}hi\r\n--XX--\r\n`, [['a', 'hi']]],
    [
      'two parts and what surrounds them',
      `pre\r\n${head('a')}1\r\n${head('b')}2\r\n--XX--\r\nafter`,
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['no part', '--XX--', []],
    ['an empty part', `${head('a')}\r\n--XX--`, [['a', '']]],
    ['an empty part without its newline', `${head('a')}--XX--`, [['a', '']]],
    ['line feeds alone', `${head('a')}1\n2\n--XX--\n`.replaceAll('\r', ''), [['a', '1\n2']]],
    ['white space after a boundary', '--XX \t\r\nContent-Disposition: a\r\n\r\n1\r\n--XX-- \r\n', [['a', '1']]],
    ['a folded header', '--XX\r\nContent-Disposition: a;\r\n  b\r\n\r\n1\r\n--XX--\r\n', [['a; b', '1']]],
    ['data that resembles a boundary', `${head('a')}\r\n--XXY\r\n--X\r\r\n\r\n-\r\n--XX--\r\n`, [['a', '\r\n--XXY\r\n--X\r\r\n\r\n-']]],
    ['a boundary with a dash more', `${head('a')}--XX-\r\n--XX-odd\r\n--XX--\r\n`, [['a', '--XX-\r\n--XX-odd']]],
    ['a boundary at the start of data that is longer', `${head('a')}--XXY\r\n--XX--\r\n`, [['a', '--XXY']]],
    ['bytes of all values', `${head('a')}\0\xff\x80\r\n--XX--\r\n`, [['a', '\0\xff\x80']]],
  ])('reads %s however it arrives', async (_name, body, expected) => {
    for (let size = 1; size <= body.length; size++) expect(await parse(body, { size }), `pieces of ${size}`).toEqual(expected)
  })

  it('skips the unread rest of a part', async () => {
    const body = `${head('a')}${'long\r\n'.repeat(1000)}\r\n${head('b')}2\r\n--XX--\r\n`
    expect(await parse(body, { size: 7, skip: true })).toEqual([
      ['a', ''],
      ['b', ''],
    ])
  })

  it('hands data on as it arrives', async () => {
    const chunks: string[] = []
    for await (const part of readParts(inPieces(`${head('a')}0123456789\r\n--XX--\r\n`, 5), 'XX')) {
      for await (const chunk of part.body) chunks.push(chunk.toString())
    }
    expect(chunks.length).toBeGreaterThan(1)
    expect(chunks.join('')).toBe('0123456789')
  })

  it.each([
    ['', 'multipart: NextPart: EOF'],
    ['no boundary', 'multipart: NextPart: EOF'],
    ['--XX\r\nContent-Disposition: cut', 'multipart: NextPart: EOF'],
    ['--XX\r\nContent-Disp', 'malformed MIME header: missing colon: "Content-Disp"'],
    [`${head('a')}cut`, 'unexpected EOF'],
    [`${head('a')}cut\r\n--X`, 'unexpected EOF'],
    [`${head('a')}cut\r\n--XX-`, 'unexpected EOF'],
    [`${head('a')}1\r\n--XX`, 'multipart: NextPart: EOF'],
    [`${head('a')}--XX`, 'multipart: NextPart: EOF'],
    [`${head('a')}1\r\n--XX--odd`, 'multipart: NextPart: EOF'],
    [`${head('a')}1\r\n--XX \todd\r\n`, String.raw`multipart: expecting a new Part; got line "--XX \todd\r\n"`],
    ['--XX\r\nno colon\r\n\r\n', 'malformed MIME header: missing colon: "no colon"'],
    ['--XX\r\n: empty\r\n\r\n', 'malformed MIME header line: ": empty"'],
    ['--XX\r\na: \0é\r\n\r\n', String.raw`malformed MIME header line: "a: \x00\xe9"`],
    ['--XX\r\n a: b\r\n\r\n', 'malformed MIME header initial line: " a: b"'],
    [`--XX\r\n${'a: b\r\n'.repeat(20_000)}\r\n`, 'multipart: message too large'],
    [`--XX\r\n${`a: ${'b'.repeat(60_000)}\r\n`.repeat(20)}\r\n`, 'multipart: message too large'],
    [`--XX\r\na: ${'b'.repeat(100_000)}`, 'multipart: message too large'],
  ])('refuses %.30j', async (body, message) => {
    await expect(parse(body)).rejects.toThrow(message)
    await expect(parse(body, { size: 1000 })).rejects.toThrow(message)
  })

  it.each([
    ['1', ['1'], 'unexpected EOF'],
    ['1\r\n--XX-', ['1', '\r\n--XX-'], 'unexpected EOF'],
    ['1\r\n--XX', ['1'], 'multipart: NextPart: unexpected EOF'],
    ['1\r\n--XX--', ['1'], 'multipart: NextPart: unexpected EOF'],
    ['1\r\n--XX\r\na: b', ['1'], 'unexpected EOF'],
  ])('gives what there is of a body that is cut behind %j', async (end, expected, message) => {
    async function* cut(): AsyncGenerator<Buffer> {
      yield Buffer.from(head('a') + end)
      throw new CutBody()
    }
    const chunks: string[] = []
    const reading = async () => {
      for await (const part of readParts(cut(), 'XX')) for await (const chunk of part.body) chunks.push(chunk.toString())
    }
    expect(await reading().catch((error: Error) => error.message)).toBe(message)
    expect(chunks).toEqual(expected)
  })

  it('skips a truncated part like any other', async () => {
    async function* cut(): AsyncGenerator<Buffer> {
      yield Buffer.from(`${head('a')}1`)
      throw new CutBody()
    }
    const parts = readParts(cut(), 'XX')
    await parts.next()
    await expect(parts.next()).rejects.toThrow('multipart: NextPart: unexpected EOF')
  })
})
