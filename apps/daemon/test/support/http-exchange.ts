import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

export interface Exchange {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly agent?: Agent
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

/** Sends one request without added headers; does not decode the answer. */
export function exchange(url: string, { method = 'GET', path, headers = {}, body, agent }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url), { method, path, headers, agent: agent ?? new Agent() }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes, text: bytes.toString() })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
