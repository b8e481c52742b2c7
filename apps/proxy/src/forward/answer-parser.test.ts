import { describe, expect, it } from 'vitest'
import { AnswerParser, type AnswerHandler } from './answer-parser.ts'

interface Seen {
  readonly parts: string[]
  readonly mayContinue: boolean
}

/** What a parser reports of an answer that arrives in pieces, then perhaps with the end of the connection. */
function read(pieces: readonly string[], { isHead = false, ends = false } = {}): Seen {
  const parts: string[] = []
  let body = ''
  const handler: AnswerHandler = {
    onInterim: ({ status, reason, rawHeaders }) => parts.push(`interim ${status} ${reason} ${rawHeaders.join('|')}`),
    onHead: ({ status, reason, rawHeaders }) => parts.push(`${status} ${reason} ${rawHeaders.join('|')}`),
    onBody: (bytes) => (body += bytes.toString('latin1')),
    onComplete: (trailers) => parts.push(`body ${body}`, `trailers ${trailers.join('|')}`),
  }
  const parser = new AnswerParser({ handler, isHead, sandboxId: 'i1' })
  try {
    for (const piece of pieces) parser.push(Buffer.from(piece, 'latin1'))
    if (ends) parser.finish()
  } finally {
    parser.close()
  }
  return { parts, mayContinue: parser.mayContinue }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`

const ANSWERS: [what: string, text: string, parts: string[]][] = [
  ['a length', `${OK}Content-Length: 5\r\n\r\nhello`, ['200 OK Content-Length|5', 'body hello', 'trailers ']],
  ['a length of zero', `${OK}content-length: 0\r\n\r\n`, ['200 OK content-length|0', 'body ', 'trailers ']],
  [
    'chunks',
    `${CHUNKED}5\r\nhello\r\n00A;x="\xff"\r\n0123456789\r\n0\r\n\r\n`,
    ['200 OK Transfer-Encoding|chunked', 'body hello0123456789', 'trailers '],
  ],
  [
    'trailers',
    `${CHUNKED}1\r\nx\r\n0\r\nX-Sum: 7\r\nX-b:\r\n\r\n`,
    ['200 OK Transfer-Encoding|chunked', 'body x', 'trailers X-Sum|7|X-b|'],
  ],
  ['no body', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', ['204 No Content Content-Length|5', 'body ', 'trailers ']],
  ['an unchanged body', 'HTTP/1.1 304 \r\nETag: "e"\r\n\r\n', ['304  ETag|"e"', 'body ', 'trailers ']],
  [
    'interim answers',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204\r\n\r\n',
    ['interim 100 Continue ', 'interim 103 Hints Link|</a>|Content-Length|5', '204  ', 'body ', 'trailers '],
  ],
  [
    'headers with blanks, other bytes and odd names',
    `${OK}A:\t b c \t\r\na:\r\n!#$%&'*+-.^_\`|~9: \xa0\xe9\xa0\r\nContent-Length: 0\r\n\r\n`,
    ["200 OK A|b c|a||!#$%&'*+-.^_`|~9|\xa0\xe9\xa0|Content-Length|0", 'body ', 'trailers '],
  ],
]

describe('an answer', () => {
  it.each(ANSWERS)('with %s is read in one piece, and the connection can serve another request', (_, text, parts) => {
    expect(read([text])).toEqual({ parts, mayContinue: true })
  })

  it.each(ANSWERS)('with %s is read the same in any two pieces, and byte by byte', (_, text, parts) => {
    for (let at = 1; at < text.length; at++) expect(read([text.slice(0, at), text.slice(at)])).toEqual({ parts, mayContinue: true })
    expect(read(text.split(''))).toEqual({ parts, mayContinue: true })
  })

  it('to a HEAD request has no body', () => {
    expect(read([`${OK}Content-Length: 5\r\n\r\n`], { isHead: true }).parts).toEqual(['200 OK Content-Length|5', 'body ', 'trailers '])
    expect(read([CHUNKED], { isHead: true }).mayContinue).toBe(true)
  })

  it('without a length ends with the connection', () => {
    expect(read([`${OK}\r\nhel`, 'lo'], { ends: true })).toEqual({ parts: ['200 OK ', 'body hello', 'trailers '], mayContinue: false })
  })
})

describe('a connection cannot serve another request', () => {
  it.each([
    ['after an answer of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['that is closed by its service', `${OK}Connection: keep-alive, Close\r\nContent-Length: 0\r\n\r\n`],
    ['that switches protocols', 'HTTP/1.1 101 S\r\n\r\n'],
    ['with bytes behind the answer', `${OK}Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n`],
    ['with bytes behind an answer without a body', 'HTTP/1.1 204 No\r\n\r\nx'],
  ])('%s', (_, text) => {
    const { parts, mayContinue } = read([text])
    expect(parts.at(-1)).toBe('trailers ')
    expect(mayContinue).toBe(false)
  })

  it('before the answer is complete', () => {
    expect(read([`${OK}Content-Length: 2\r\n\r\nx`]).mayContinue).toBe(false)
  })
})

it('heads that have arrived in part have a cap for each sandbox, and make room when they are closed', () => {
  const handler: AnswerHandler = {
    onInterim: () => undefined,
    onHead: () => undefined,
    onBody: () => undefined,
    onComplete: () => undefined,
  }
  const partial = Buffer.from(`${OK}X: ${'x'.repeat(250 * 1024)}`)
  const begin = (sandboxId: string): AnswerParser => {
    const parser = new AnswerParser({ handler, isHead: false, sandboxId })
    parser.push(partial)
    return parser
  }
  const begun: AnswerParser[] = []
  const beginMany = (): void => {
    for (let count = 0; count < 1000; count++) begun.push(begin('hostile'))
  }
  expect(beginMany).toThrow(expect.objectContaining({ problem: expect.objectContaining({ kind: 'limit', cap: 'answer_heads' }) }))
  expect(begun).toHaveLength(32)
  // Others are served.
  begin('other').close()
  for (const parser of begun.splice(0)) parser.close()
  expect(beginMany).toThrow()
  expect(begun).toHaveLength(32)
  for (const parser of begun) parser.close()
})

describe('these are no answers', () => {
  it.each([
    ['another protocol', 'SSH-2.0-x\r\n\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status that is too small', 'HTTP/1.1 099 X\r\n\r\n'],
    ['a status with four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a control character in the reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
    ['a reason with a bare LF', 'HTTP/1.1 200 OK\nX: 1\r\n\r\n'],
    ['a header without a colon', `${OK}nonsense\r\n\r\n`],
    ['a header without a name', `${OK}: x\r\n\r\n`],
    ['a space before the colon', `${OK}Content-Length : 5\r\n\r\n`],
    ['a folded header', `${OK}X: a\r\n b\r\n\r\n`],
    ['a bare LF in a header', `${OK}X: a\nContent-Length: 5\r\n\r\n`],
    ['a bare CR in a header', `${OK}X: a\rContent-Length: 5\r\n\r\n`],
    ['a NUL in a header', `${OK}X: a\0b\r\n\r\n`],
    ['two equal lengths', `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\n`],
    ['a length and chunks', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['chunks and a length', `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n`],
    ['a list of lengths', `${OK}Content-Length: 5, 5\r\n\r\n`],
    ['a length with a sign', `${OK}Content-Length: +5\r\n\r\n`],
    ['a length without digits', `${OK}Content-Length:\r\n\r\n`],
    ['a huge length', `${OK}Content-Length: 9999999999999999\r\n\r\n`],
    ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['chunks twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a chunk without a size', `${CHUNKED}\r\n`],
    ['a chunk with another size', `${CHUNKED}0x5\r\nhello\r\n`],
    ['a chunk with a space', `${CHUNKED}5 \r\nhello\r\n`],
    ['a chunk with a sign', `${CHUNKED}-5\r\n`],
    ['a huge chunk', `${CHUNKED}ffffffffffffff\r\n`],
    ['a chunk that is longer than its size', `${CHUNKED}5\r\nhello!\r\n0\r\n\r\n`],
    ['a chunk line with a bare LF', `${CHUNKED}5\nhello\r\n0\r\n\r\n`],
    ['an invalid trailer', `${CHUNKED}0\r\nnonsense\r\n\r\n`],
    ['an endless head', `${OK}X: ${'x'.repeat(256 * 1024)}`],
    ['an endless line', 'x'.repeat(256 * 1024 + 1)],
    ['an endless chunk line', `${CHUNKED}5;${'x'.repeat(16 * 1024)}`],
    ['endless chunk extensions', CHUNKED + `1;${'x'.repeat(1000)}\r\nx\r\n`.repeat(20)],
    ['endless trailers', `${CHUNKED}0\r\n${'X: 1\r\n'.repeat(50_000)}`],
  ])('%s', (_, text) => {
    expect(() => read([text])).toThrow(/answer|chunk|message|trailers/)
    expect(() => read(text.match(/.{1,1000}/gs) ?? [])).toThrow(/answer|chunk|message|trailers/)
  })

  it.each([
    ['nothing', ''],
    ['half a head', OK],
    ['half a body', `${OK}Content-Length: 2\r\n\r\nx`],
    ['chunks without their end', `${CHUNKED}1\r\nx\r\n0\r\n`],
    ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('%s before the end of the connection', (_, text) => {
    expect(() => read([text], { ends: true })).toThrow('before the end of the answer')
  })
})
