import { request } from 'node:http'
import type { Target } from './attack.ts'

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Answer {
  /** `none` when the connection ended without an answer. */
  readonly status: string
  readonly text: string
}

/** The last part of the body: in a stream it contains the result. */
const KEPT_CHARS = 64 * 1024

/** Sends one request on a new connection. Never rejects: an attack counts every answer, also one whose body is cut off. */
export async function call(url: string, { method = 'GET', headers = {}, body }: Call, signal: AbortSignal): Promise<Answer> {
  return await new Promise((resolve) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const sent = request(url, { method, headers: { ...length, ...headers }, agent: false, signal }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text = (text + chunk).slice(-KEPT_CHARS)
      })
      answer.once('close', () => {
        resolve({ status: String(answer.statusCode), text })
        sent.destroy()
      })
    })
    sent.once('error', () => resolve({ status: 'none', text: '' }))
    sent.end(body)
  })
}

/** Calls the control plane with the team's key, and a JSON body unless `headers` has another type. */
export async function callApi(target: Target, operation: string, body: object | string | undefined, signal: AbortSignal): Promise<Answer> {
  const [method = 'GET', path = '/'] = operation.split(' ')
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'X-Api-Key': target.apiKey, ...(text !== undefined && { 'Content-Type': 'application/json' }) }
  return await call(`${target.apiUrl}${path}`, { method, headers, ...(text !== undefined && { body: text }) }, signal)
}

/** Like {@link callApi}, for the routes that need the user's token. */
export async function callAsUser(target: Target, operation: string, body: object | undefined, signal: AbortSignal): Promise<Answer> {
  const [method = 'GET', path = '/'] = operation.split(' ')
  const headers = { Authorization: `Bearer ${target.accessToken}`, 'Content-Type': 'application/json' }
  return await call(`${target.apiUrl}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }, signal)
}

/** The fields of an answer; empty when the answer is not an object. */
export function fieldsOf({ text }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
