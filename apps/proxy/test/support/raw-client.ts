import { connect, type Socket } from 'node:net'
import { pollUntil } from '@sandyard/kit/async/poll-until'

/** A TCP client that sends bytes as they are and keeps what it gets. */
export class RawClient implements Disposable {
  readonly socket: Socket
  received = ''
  /** `end`: the other side closed in order; `reset`: it broke the connection. Absent while open. */
  outcome: 'end' | 'reset' | undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => (this.received += text))
    this.socket.on('end', () => (this.outcome ??= 'end'))
    this.socket.on('error', () => (this.outcome ??= 'reset'))
    this.socket.on('close', () => (this.outcome ??= 'reset'))
  }

  /** Lines of a head, joined as HTTP wants them; then `body` as it is. */
  send(lines: readonly string[], body = ''): void {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
  }

  async until(text: string): Promise<void> {
    await pollUntil({ what: `"${text}" in "${this.received}"`, timeoutMs: 5000, everyMs: 2 }, () =>
      this.received.includes(text) ? true : undefined,
    )
  }

  async closed(): Promise<'end' | 'reset'> {
    return pollUntil({ what: `the end of the connection after "${this.received}"`, timeoutMs: 8000, everyMs: 2 }, () => this.outcome)
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}
