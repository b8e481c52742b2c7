import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

/** A receiver of webhooks on this host; a test tells it how to answer. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = []
  /** Requests that it has not answered. */
  open = 0
  mostOpen = 0
  behaviour: Behaviour = (_, response) => response.writeHead(204).end()
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await new Promise<void>((resolve) => void receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  answer(status: number, headers: Record<string, string> = {}): void {
    this.behaviour = (_, response) => response.writeHead(status, headers).end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1
    this.mostOpen = Math.max(this.mostOpen, this.open)
    response.on('close', () => (this.open -= 1))
    response.on('error', () => undefined)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    this.received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
    this.behaviour(request, response)
  }
}

/** Whether a delivery is signed with the secret: in the standard alphabet, and in the one of URLs. */
export function verify(secret: string, { headers, body }: Received): { readonly standard: boolean; readonly urlSafe: boolean } {
  const digest = createHash('sha256').update(secret + body)
  const standard = digest.digest('base64').replace(/=+$/, '')
  const signature = headers['e2b-signature']
  return { standard: signature === standard, urlSafe: signature === standard.replaceAll('+', '-').replaceAll('/', '_') }
}
