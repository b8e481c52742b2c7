import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { DEFAULT_ADDRESS } from '../../src/engine/connect-engine.ts'
import { ENGINE } from './engine-bench.ts'

/** A call that the engine received. `body` is the body of a small JSON call, else empty. */
export interface SeenCall {
  readonly method: string
  readonly path: string
  readonly body: string
  /** The name of the container that path or body names, if it was created through this proxy. */
  readonly container: string | undefined
}

/** The calls that one condition makes hang. */
export class Hang {
  readonly isIt: (call: SeenCall) => boolean
  /** Hanging calls whose caller still waits. */
  waiting = 0
  readonly #release: (hang: Hang) => void

  constructor(isIt: (call: SeenCall) => boolean, release: (hang: Hang) => void) {
    this.isIt = isIt
    this.#release = release
  }

  async untilWaiting(calls = 1): Promise<void> {
    await pollUntil({ what: 'calls that hang', timeoutMs: 60_000, everyMs: 10 }, () => (this.waiting >= calls ? true : undefined))
  }

  /** Later calls are answered again. */
  release(): void {
    this.#release(this)
  }
}

/** A proxy of the real engine that never answers the calls that a test chooses. */
export class HangingEngine implements AsyncDisposable {
  readonly address: string
  readonly #folder: string
  readonly #server: Server
  readonly #engine: { socketPath: string }
  readonly #sockets = new Set<Duplex>()
  readonly #hangs = new Set<Hang>()
  readonly #nameOfId = new Map<string, string>()
  /** How late every call reaches the engine, also one whose caller waits no more. */
  lateMs = 0
  /** Changes that the engine has not finished. */
  pending = 0

  private constructor(folder: string, socketPath: string) {
    this.#folder = folder
    this.#engine = { socketPath }
    this.address = `unix://${folder}/engine.sock`
    this.#server = createServer((question, answer) => void this.#pass(question, answer).catch(() => answer.destroy()))
    this.#server.on('upgrade', (question, socket) => this.#passStream(question, socket))
    this.#server.on('connection', (socket) => this.#track(socket))
  }

  static async open(): Promise<HangingEngine> {
    const engine = new HangingEngine(await mkdtemp(join(tmpdir(), 'sandyard-hang-')), (ENGINE ?? DEFAULT_ADDRESS).replace('unix://', ''))
    await new Promise<void>((resolve) => engine.#server.listen(`${engine.#folder}/engine.sock`, resolve))
    return engine
  }

  /** From now on every call hangs whose path or body contains one of `names`. */
  hang(...names: readonly string[]): Hang {
    return this.hangWhere(({ path, body }) => names.some((name) => path.includes(name) || body.includes(name)))
  }

  hangWhere(condition: (call: SeenCall) => boolean): Hang {
    const hang = new Hang(condition, () => this.#hangs.delete(hang))
    this.#hangs.add(hang)
    return hang
  }

  /** The first call that meets `condition` hangs; later ones are answered. */
  hangOnce(condition: (call: SeenCall) => boolean): Hang {
    const hang = this.hangWhere((call) => {
      const isIt = condition(call)
      if (isIt) hang.release()
      return isIt
    })
    return hang
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #pass(question: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = question
    const isJson = headers['content-type'] === 'application/json'
    const body = isJson ? await buffer(question) : undefined
    const call = this.#seen(method, path, body?.toString() ?? '')
    const hang = [...this.#hangs].find(({ isIt }) => isIt(call))
    if (hang !== undefined) {
      hang.waiting += 1
      answer.once('close', () => (hang.waiting -= 1))
      return
    }
    const isChange = method === 'POST'
    if (isChange) this.pending += 1
    await delay(this.lateMs)
    const onward = request({ ...this.#engine, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers)
      answer.flushHeaders()
      reply.on('error', () => answer.destroy())
      if (/\/containers\/create\?/.test(path)) void this.#passCreated(path, reply, answer)
      // The caller has disconnected: a pipe to its closed answer would stall. The reply is read and dropped, so that the call ends.
      else if (answer.destroyed) reply.resume()
      else {
        reply.pipe(answer)
        answer.once('close', () => reply.resume())
      }
    })
    onward.on('error', () => answer.destroy())
    if (isChange) onward.once('close', () => (this.pending -= 1))
    // An engine that is slow does the work all the same.
    if (this.lateMs === 0) answer.once('close', () => onward.destroy())
    if (body === undefined) question.pipe(onward)
    else onward.end(body)
  }

  #seen(method: string, path: string, body: string): SeenCall {
    const found = [...this.#nameOfId].find(([id]) => path.includes(id) || body.includes(id))
    return { method, path, body, container: found?.[1] }
  }

  /** Learns the id of a new container before the caller does. */
  async #passCreated(path: string, reply: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(reply)
    const { Id } = JSON.parse(body.toString()) as { Id?: string }
    const name = new URL(path, 'http://engine').searchParams.get('name')
    if (Id !== undefined && name !== null) this.#nameOfId.set(Id, name)
    answer.end(body)
  }

  /** An attach: bytes in both directions after the first answer. */
  #passStream({ method, url, rawHeaders }: IncomingMessage, socket: Duplex): void {
    const engine = connect(this.#engine.socketPath)
    this.#track(engine)
    const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    engine.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
    engine.pipe(socket).pipe(engine)
    engine.on('error', () => socket.destroy())
    socket.on('error', () => engine.destroy())
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
