import { connect, type Socket } from 'node:net'

/** How a connection ended: in order, or by a reset. */
export type Outcome = 'end' | 'reset'

const DEADLINE_MS = 25_000

/** A TCP client that sends bytes unchanged and stores the bytes that it receives. */
export class RawClient implements Disposable {
  readonly socket: Socket
  received = ''
  /** Absent while the connection is open. */
  outcome: Outcome | undefined
  readonly #waiting = new Set<() => void>()

  /** @param localAddress the address that the client connects from */
  constructor(port: number, localAddress?: string) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...(localAddress !== undefined && { localAddress }) })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => this.#changed(() => (this.received += text)))
    this.socket.on('end', () => this.#changed(() => (this.outcome ??= 'end')))
    this.socket.on('error', () => this.#changed(() => (this.outcome ??= 'reset')))
    this.socket.on('close', () => this.#changed(() => (this.outcome ??= 'reset')))
  }

  /** Sends lines of a head, joined as HTTP requires, then `body` unchanged. */
  send(lines: readonly string[], body = ''): void {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  }

  async until(text: string): Promise<void> {
    await this.#until(`"${text}"`, () => this.received.includes(text))
  }

  async closed(): Promise<Outcome | undefined> {
    await this.#until('the end', () => this.outcome !== undefined)
    return this.outcome
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #changed(apply: () => unknown): void {
    apply()
    for (const check of this.#waiting) check()
  }

  /** Checks the condition at every event of the connection, so that a thousand clients can wait without work. */
  async #until(what: string, isSo: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = (): void => void (isSo() && resolve())
    const expired = setTimeout(() => reject(new Error(`timed out waiting for ${what} after "${this.received}"`)), DEADLINE_MS)
    this.#waiting.add(check)
    check()
    try {
      await promise
    } finally {
      clearTimeout(expired)
      this.#waiting.delete(check)
    }
  }
}
