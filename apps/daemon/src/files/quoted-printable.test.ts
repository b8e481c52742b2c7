import { describe, expect, it } from 'vitest'
import { decodeQuotedPrintable } from './quoted-printable.ts'

async function decode(text: string, size: number): Promise<[string, string]> {
  const bytes = Buffer.from(text, 'latin1')
  async function* inPieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const chunks: Buffer[] = []
  let failure = ''
  try {
    for await (const chunk of decodeQuotedPrintable(inPieces())) chunks.push(chunk)
  } catch (error) {
    failure = (error as Error).message
  }
  return [Buffer.concat(chunks).toString('latin1'), failure]
}

describe('decodeQuotedPrintable', () => {
  it.each([
    ['a=3Db=3d', 'a=b=', ''],
    ['=C3=A9\xe9', '\xc3\xa9\xe9', ''],
    ['soft=\r\nbreak= \t\nhere=', 'softbreakhere', ''],
    ['trailing \t\r\nspace \n', 'trailing\r\nspace\n', ''],
    ['a\rb\r\r\nc\r', 'a\rb\r\nc', ''],
    ['=zz =3 =g1 ==41 = b', '=zz =3 =g1 =A = b', ''],
    ['a=3\r\nb', 'a=3\r\nb', ''],
    ['=', '', 'quotedprintable: invalid bytes after =: ""'],
    ['x\r\n=', 'x\r\n', 'quotedprintable: invalid bytes after =: ""'],
    ['a=\r', 'a', String.raw`quotedprintable: invalid bytes after =: "\r"`],
    ['a=\rb', 'a', 'quotedprintable: invalid hex byte 0x0d'],
    ['a==\r\nb', 'a', 'unexpected EOF'],
    ['a\0b', 'a', 'quotedprintable: invalid unescaped byte 0x00 in body'],
    ['a\x7f', 'a', 'quotedprintable: invalid unescaped byte 0x7f in body'],
  ])('%j stands for %j and %j', async (text, expected, failure) => {
    for (let size = 1; size <= text.length; size++) expect(await decode(text, size), `pieces of ${size}`).toEqual([expected, failure])
  })

  it('reads lines of 4,096 bytes, and no longer ones', async () => {
    const line = `${'x'.repeat(4095)}\n`
    expect(await decode(line.repeat(3), 1000)).toEqual([line.repeat(3), ''])
    for (const long of ['x'.repeat(4097), `${'x'.repeat(4096)}\n`, 'x'.repeat(100_000)]) {
      expect(await decode(long, 1000)).toEqual(['x'.repeat(4096), 'bufio: buffer full'])
    }
  })
})
