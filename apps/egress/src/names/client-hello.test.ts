import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseClientHello } from './client-hello.ts'

/** The first bytes of a real TLS client. */
async function helloOf(servername: string | undefined): Promise<Buffer> {
  const sent = Promise.withResolvers<Buffer>()
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      sent.resolve(chunk)
      done()
    },
  })
  const socket = connect({ socket: wire, ...(servername !== undefined && { servername }) })
  socket.on('error', () => undefined)
  const bytes = await sent.promise
  socket.destroy()
  return bytes
}

let hello: Buffer
beforeAll(async () => {
  hello = await helloOf('Api.Example.com')
})

/** The same message in records of `size` bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const content = bytes.subarray(5)
  const parts: Buffer[] = []
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size)
    const head = Buffer.from([22, 3, 1, 0, 0])
    head.writeUInt16BE(part.length, 3)
    parts.push(head, part)
  }
  return Buffer.concat(parts)
}

describe('parseClientHello', () => {
  it('reads the server name in lower case', () => {
    expect(parseClientHello(hello)).toEqual({ kind: 'hello', name: 'api.example.com' })
  })

  it('needs every byte, and reads no further', () => {
    for (let length = 0; length < hello.length; length += 1) {
      const read = parseClientHello(hello.subarray(0, length))
      expect(read.kind === 'incomplete' && read.needed > length && read.needed <= hello.length, `${length} bytes`).toBe(true)
    }
    expect(parseClientHello(Buffer.concat([hello, Buffer.from('more')]))).toMatchObject({ name: 'api.example.com' })
  })

  it('refuses a message in too many records', () => {
    expect(parseClientHello(inRecords(hello, 1)).kind).toBe('malformed')
  })

  it('refuses a message that another record interrupts', () => {
    const [begin, rest] = [inRecords(hello, 100).subarray(0, 105), inRecords(hello, 100).subarray(105)]
    const alert = Buffer.from([21, 3, 1, 0, 2, 1, 0])
    expect(parseClientHello(begin).kind).toBe('incomplete')
    expect(parseClientHello(Buffer.concat([begin, alert])).kind).toBe('malformed')
    expect(parseClientHello(Buffer.concat([begin, alert, rest])).kind).toBe('malformed')
    expect(parseClientHello(Buffer.concat([inRecords(hello, 2).subarray(0, 7), alert])).kind).toBe('malformed')
    expect(parseClientHello(Buffer.concat([hello, alert])).kind).toBe('hello')
  })

  it.each([50, 100])('reads a message in records of %i bytes', (size) => {
    expect(parseClientHello(inRecords(hello, size))).toEqual({ kind: 'hello', name: 'api.example.com' })
  })

  it('has no name for a client that gives none', async () => {
    expect(parseClientHello(await helloOf(undefined))).toEqual({ kind: 'hello', name: undefined })
  })

  it.each([
    ['another protocol', Buffer.from('SSH-2.0-x\r\n'), 'other'],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n'), 'other'],
    ['a record without content', Buffer.from([22, 3, 1, 0, 0]), 'malformed'],
    ['a record that is too long', Buffer.from([22, 3, 1, 0xff, 0xff, 1]), 'malformed'],
    ['another handshake message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]), 'malformed'],
    ['a message over the cap', Buffer.from([22, 3, 1, 0, 4, 1, 2, 0, 0]), 'malformed'],
    ['lengths beyond the message', Buffer.from([22, 3, 1, 0, 8, 1, 0, 0, 4, 3, 3, 0, 0]), 'malformed'],
  ])('does not read %s', (_, bytes, kind) => {
    expect(parseClientHello(bytes).kind).toBe(kind)
  })

  it('refuses a second server name, and names that are addresses or contain other characters', () => {
    const at = hello.indexOf('Api.Example.com')
    const renamed = (name: string): Buffer =>
      Buffer.concat([hello.subarray(0, at), Buffer.from(name, 'latin1'), hello.subarray(at + name.length)])
    expect(parseClientHello(renamed('api.example.org'))).toMatchObject({ name: 'api.example.org' })
    for (const name of ['api example.com', 'api.example\0com', '255.255.255.255', 'api..xample.com']) {
      expect(parseClientHello(renamed(name)).kind, name).toBe('malformed')
    }
    // Makes another extension a second server name.
    const extended = Buffer.from(hello)
    const extended23 = extended.indexOf(Buffer.from([0, 23, 0, 0]))
    expect(extended23).toBeGreaterThan(0)
    extended.writeUInt16BE(0, extended23)
    expect(parseClientHello(extended).kind).toBe('malformed')
  })
})
