import { encode, type Answer, type Packet } from 'dns-packet'
import { describe, expect, it } from 'vitest'
import { encodeAnswer, isTruncated, toAnswer } from './answer.ts'
import { parseQuery, type Query } from './query.ts'

const query: Query = { id: 7, name: 'a.example', asked: 'A.Example', type: 'A', maxAnswerBytes: 512 }
const isClosed = (address: string): boolean => address.startsWith('10.')

function answer(more: Partial<Packet> = {}, answers: Answer[] = [{ type: 'A', name: 'a.example', data: '192.0.2.1', ttl: 60 }]): Buffer {
  return encode({ type: 'response', id: 99, questions: [{ type: 'A', name: 'a.example' }], answers, ...more })
}

describe('toAnswer', () => {
  it('has the id and the spelling of the sandbox, and the code of the resolver', () => {
    expect(toAnswer(answer(), { id: 99, query }, { isClosed })).toMatchObject({ id: 7, questions: [{ name: 'A.Example', type: 'A' }] })
    const unknown = toAnswer(answer({ flags: 3 }, []), { id: 99, query }, { isClosed })
    expect((unknown?.flags ?? 0) & 15).toBe(3)
  })

  it.each<[string, Buffer]>([
    ['another id', answer({ id: 98 })],
    ['another name', answer({ questions: [{ type: 'A', name: 'b.example' }] })],
    ['another type', answer({ questions: [{ type: 'AAAA', name: 'a.example' }] })],
    ['no question', answer({ questions: [] })],
    ['a query', answer({ type: 'query' })],
    ['bytes that cannot be read', answer().subarray(0, 20)],
  ])('is not made from an answer with %s', (_, bytes) => {
    expect(toAnswer(bytes, { id: 99, query }, { isClosed })).toBeUndefined()
  })

  it('leaves internal addresses out, in every section', () => {
    const record = (data: string): Answer => ({ type: 'A', name: 'a.example', data, ttl: 1 })
    const bytes = answer({ authorities: [record('10.0.0.2')] }, [record('10.0.0.1'), record('192.0.2.1')])
    const read = toAnswer(bytes, { id: 99, query }, { isClosed })
    expect(read?.answers).toHaveLength(1)
    expect(read?.authorities).toEqual([])
    const ipv6 = ['::1', '::', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'fd00:ec2::254', 'fe80::1', 'ff02::1', '2001:db8::1']
    const wide = encode({
      type: 'response',
      id: 99,
      questions: [{ type: 'AAAA', name: 'a.example' }],
      answers: ipv6.map((data) => ({ type: 'AAAA', name: 'a.example', data })),
    })
    const left = toAnswer(wide, { id: 99, query: { ...query, type: 'AAAA' } }, { isClosed })
    expect(left?.answers?.map((found) => found.type === 'AAAA' && found.data)).toEqual(['2001:db8::1'])
  })

  it('is cut to the size that the client takes', () => {
    const many = Array.from({ length: 100 }, (_, i): Answer => ({ type: 'A', name: 'a.example', data: `192.0.2.${i}`, ttl: 1 }))
    const read = toAnswer(answer({}, many), { id: 99, query }, { isClosed })
    if (read === undefined) throw new Error('unreachable')
    const cut = encodeAnswer(read, 512)
    expect(cut.length).toBeLessThanOrEqual(512)
    expect((cut.readUInt16BE(2) & 512) !== 0).toBe(true)
    expect(isTruncated(read)).toBe(false)
    expect(encodeAnswer(read, 65_535).length).toBeGreaterThan(512)
  })
})

describe('parseQuery', () => {
  it('reads the size of answers, between 512 and 1232 bytes', () => {
    const sized = (udpPayloadSize: number): unknown =>
      parseQuery(
        encode({
          type: 'query',
          id: 1,
          questions: [{ type: 'A', name: 'a.example' }],
          additionals: [
            { type: 'OPT', name: '.', udpPayloadSize, flags: 0, options: [], extendedRcode: 0, ednsVersion: 0, flag_do: false },
          ],
        }),
      )
    for (const [announced, expected] of [
      [100, 512],
      [1000, 1000],
      [65_535, 1232],
    ] as const) {
      expect(sized(announced)).toMatchObject({ kind: 'query', query: { maxAnswerBytes: expected } })
    }
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a header', Buffer.alloc(11)],
    ['an answer', answer()],
  ])('does not answer %s', (_, bytes) => {
    expect(parseQuery(bytes)).toEqual({ kind: 'ignored' })
  })

  it('refuses counts that the packet does not have, without reading them', () => {
    const bytes = encode({ type: 'query', id: 1, questions: [{ type: 'A', name: 'a.example' }] })
    for (const at of [4, 6, 8, 10]) {
      const wrong = Buffer.from(bytes)
      wrong.writeUInt16BE(0xffff, at)
      expect(parseQuery(wrong)).toMatchObject({ kind: 'refused', id: 1, code: 1 })
    }
  })

  it('refuses a name with other characters than those of servers', () => {
    const bytes = encode({ type: 'query', id: 1, questions: [{ type: 'A', name: 'aXexample' }] })
    bytes[bytes.indexOf('X')] = 0x20
    expect(parseQuery(bytes)).toMatchObject({ kind: 'refused', code: 5 })
  })
})
