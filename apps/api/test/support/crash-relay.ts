import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Fuse } from './fuse.ts'

/** Messages of a client after which it waits for an answer: a simple query, the end of an extended one. */
const ENDS = new Set(['Q', 'S'])
const QUERY = 'Q'
const PARSE = 'P'
/** `ReadyForQuery` without its last byte: the end of every answer. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])
const WRITES = /^\s*(?:insert|update|delete|with\b[^]*\b(?:insert|update|delete))\b/i

/**
 * The way of a dying server to its database. The ends of transactions and the single statements that write are steps of the fuse. When it has
 * blown, all connections end, as those of a killed process do: Postgres rolls back what is open and releases its locks.
 */
export class CrashRelay implements AsyncDisposable {
  readonly #fuse: Fuse
  readonly #target: URL
  /** Steps are those of connections with this name. */
  readonly #applicationName: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(databaseUrl: string, fuse: Fuse, applicationName: string) {
    this.#fuse = fuse
    this.#target = new URL(databaseUrl)
    this.#applicationName = applicationName
    this.#server = createServer((client) => this.#serve(client))
    void fuse.blown.then(() => this.#cut())
  }

  /** Returns the URL for the server. */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  #serve(client: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.once('close', () => this.#sockets.delete(socket))
      this.#sockets.add(socket)
    }
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    if (this.#fuse.isBlown) return void client.destroy()
    const answer = new HeldAnswer(client)
    upstream.on('data', (chunk: Buffer) => answer.receive(chunk))
    void this.#forward(client, { upstream, answer }).catch(() => client.destroy())
  }

  async #forward(client: Socket, { upstream, answer }: { readonly upstream: Socket; readonly answer: HeldAnswer }): Promise<void> {
    let isCounted = false
    let isInTransaction = false
    for await (const batch of batchesOf(client)) {
      if (batch.kind === 'startup') isCounted = batch.bytes.includes(`application_name\0${this.#applicationName}\0`)
      const { text } = batch
      const isStep = isCounted && (/^\s*commit\b/i.test(text) || (!isInTransaction && WRITES.test(text)))
      if (/^\s*(?:begin|start transaction)\b/i.test(text)) isInTransaction = true
      else if (/^\s*(?:commit|rollback)\b/i.test(text)) isInTransaction = false
      if (!isStep) {
        upstream.write(batch.bytes)
        continue
      }
      const answered = answer.hold()
      await this.#fuse.step(async () => {
        upstream.write(batch.bytes)
        await answered
      })
      answer.release()
    }
  }

  #cut(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cut()
  }
}

/** Passes answers on, or keeps one back. */
class HeldAnswer {
  readonly #client: Socket
  #held: Buffer[] | undefined
  #whole = Promise.withResolvers<void>()

  constructor(client: Socket) {
    this.#client = client
  }

  /** Keeps back what comes from now on. Resolves when a whole answer has come. */
  hold(): Promise<void> {
    this.#held = []
    this.#whole = Promise.withResolvers<void>()
    return this.#whole.promise
  }

  release(): void {
    for (const chunk of this.#held ?? []) this.#client.write(chunk)
    this.#held = undefined
  }

  receive(chunk: Buffer): void {
    if (this.#held === undefined) return void this.#client.write(chunk)
    this.#held.push(chunk)
    if (Buffer.concat(this.#held).subarray(-6, -1).equals(READY)) this.#whole.resolve()
  }
}

interface Batch {
  readonly kind: 'startup' | 'messages'
  readonly bytes: Buffer
  /** The statement; empty for other messages. */
  readonly text: string
}

/** The messages of a client, up to and including each one that waits for an answer. */
async function* batchesOf(client: Socket): AsyncGenerator<Batch> {
  let bytes = Buffer.alloc(0)
  let isStarted = false
  for await (const chunk of client) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    let [at, from, text] = [0, 0, '']
    while (true) {
      // Only the first message has no type.
      const head = isStarted ? 1 : 0
      if (bytes.length < at + head + 4) break
      const end = at + head + bytes.readUInt32BE(at + head)
      if (bytes.length < end) break
      const kind = isStarted ? String.fromCharCode(bytes[at] ?? 0) : ''
      if (kind === QUERY || kind === PARSE) text = textOf(kind, bytes.subarray(at + 5, end))
      at = end
      // Anything before the first statement, as a password, is passed on at once.
      if (isStarted && !ENDS.has(kind) && 'PBDECH'.includes(kind)) continue
      yield { kind: isStarted ? 'messages' : 'startup', bytes: bytes.subarray(from, at), text }
      isStarted = true
      from = at
      text = ''
    }
    bytes = bytes.subarray(from)
  }
}

/** A `Parse` has the name of the statement before its text. */
function textOf(kind: string, body: Buffer): string {
  const texts = body.toString().split('\0')
  return (kind === PARSE ? texts[1] : texts[0]) ?? ''
}
