import type { IncomingHttpHeaders } from 'node:http'
import { rawRequest } from './raw-http.ts'
import { server } from './server.ts'

/** A valid sandbox id that belongs to no sandbox. */
export const unknownSandboxId = 'i00000000000000000000'

export interface ApiCall {
  readonly body?: unknown
  /** Sent unchanged, instead of `body` as JSON. */
  readonly text?: string
  readonly headers?: Record<string, string>
  /** False sends no API key. */
  readonly key?: boolean
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body; an empty object if the body is not a JSON object. */
  readonly body: Record<string, unknown>
}

/** Calls the control plane with the key of the environment, e.g. `callApi('GET /v2/sandboxes?limit=1')`. */
export async function callApi(operation: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const [method = 'GET', path = '/'] = operation.split(' ')
  const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
  const answer = await rawRequest(server.apiUrl, {
    method,
    path,
    headers: {
      ...(call.key === false ? {} : { 'x-api-key': server.apiKey }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  return { ...answer, body: parseObject(answer.text) }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
