import { WebSocket } from 'ws'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { encodeTerminalFrame, decodeTerminalFrame, type ClientFrame, type ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import type { Server } from './control-plane.ts'
import { ORIGIN, type Browser } from './dashboard-browser.ts'

export interface LivePageOptions {
  readonly origin?: string
  readonly cookie?: string
}

type FrameOf<T extends ServerFrame['t']> = Extract<ServerFrame, { readonly t: T }>

/** The live socket of a page, as a browser opens it. */
export class LivePage implements AsyncDisposable {
  readonly frames: ServerFrame[] = []
  readonly #socket: WebSocket
  readonly #output = new Map<number, string>()
  #closed: { readonly code: number; readonly reason: string } | undefined
  #nextId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return void this.frames.push(JSON.parse(data.toString()) as ServerFrame)
      const { channel, bytes } = decodeTerminalFrame(data) ?? { channel: -1, bytes: new Uint8Array() }
      this.#output.set(channel, (this.#output.get(channel) ?? '') + Buffer.from(bytes).toString())
      if (this.acknowledges) this.send({ t: 'term.ack', channel, bytes: bytes.length })
    })
    socket.on('close', (code, reason) => (this.#closed = { code, reason: reason.toString() }))
    socket.on('error', () => undefined)
  }

  acknowledges = true

  /** @throws Error with the status of a refused upgrade */
  static async open({ app }: Pick<Server, 'app'>, browser: Browser, { origin = ORIGIN, cookie }: LivePageOptions = {}): Promise<LivePage> {
    const address = app.server.address() ?? (await app.listen({ host: '127.0.0.1', port: 0 }).then(() => app.server.address()))
    const port = typeof address === 'object' ? address?.port : undefined
    const socket = new WebSocket(`ws://127.0.0.1:${port}/dashboard/api/live`, {
      headers: { host: new URL(ORIGIN).host, origin, cookie: cookie ?? browser.cookie },
    })
    const page = new LivePage(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('unexpected-response', (_request, answer) => reject(new Error(`answered ${answer.statusCode}`)))
    })
    return page
  }

  send(frame: ClientFrame): void {
    this.#socket.send(JSON.stringify(frame))
  }

  sendText(text: string): void {
    this.#socket.send(text)
  }

  type(channel: number, text: string): void {
    this.#socket.send(encodeTerminalFrame(channel, Buffer.from(text)))
  }

  /** Subscribes and returns the number of the subscription. */
  subscribe(topic: string): number {
    this.#nextId += 1
    this.send({ t: 'sub', id: this.#nextId, topic })
    return this.#nextId
  }

  output(channel: number): string {
    return this.#output.get(channel) ?? ''
  }

  /** The first frame of this kind that fits, also one that has come already. */
  frame<T extends ServerFrame['t']>(t: T, fits: (frame: FrameOf<T>) => boolean = () => true): Promise<FrameOf<T>> {
    const find = async () => this.frames.find((frame): frame is FrameOf<T> => frame.t === t && fits(frame as FrameOf<T>))
    return pollUntil({ what: `a frame ${t}`, timeoutMs: 20_000, everyMs: 10 }, find).catch((cause: unknown) => {
      throw new Error(`no frame ${t} came; the last ones: ${JSON.stringify(this.frames.slice(-5)).slice(0, 2000)}`, { cause })
    })
  }

  closed(): Promise<{ readonly code: number; readonly reason: string }> {
    return pollUntil({ what: 'the end of the socket', timeoutMs: 20_000, everyMs: 10 }, async () => this.#closed)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.terminate()
    await this.closed()
  }
}
