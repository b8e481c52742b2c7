import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { getCACertificates } from 'node:tls'
import type { Outbound } from './outbound.ts'
import { proxyVariables } from './proxy-variables.ts'

export interface OutboundRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

export interface OutboundAnswer {
  readonly status: number
  readonly text: string
}

const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * A request of the server itself to the world: through the proxy and with the authorities of the installation.
 *
 * @throws the error of the connection, in which Node leaves out the credentials of the proxy; the abort reason
 */
export async function outboundRequest(outbound: Outbound, url: URL, options: OutboundRequest): Promise<OutboundAnswer> {
  const { method, headers, body, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<OutboundAnswer>()
  const proxyEnv = proxyVariables(outbound)
  // An agent for each request: they are rare, and nothing stays open.
  const isTls = url.protocol === 'https:'
  const ca = [...getCACertificates('default'), ...outbound.extraCa]
  const agent = isTls ? new HttpsAgent({ proxyEnv, ca }) : new HttpAgent({ proxyEnv })
  const send = isTls ? httpsRequest : httpRequest
  const call = send(url, { method, headers: { ...headers, 'content-length': Buffer.byteLength(body) }, agent, signal })
  call.on('response', (response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) call.destroy(new Error('the answer is too long'))
      else chunks.push(chunk)
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    response.on('error', reject)
  })
  call.on('error', reject)
  call.end(body)
  try {
    return await promise
  } catch (err) {
    signal.throwIfAborted()
    throw err
  } finally {
    agent.destroy()
  }
}
