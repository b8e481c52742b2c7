import { me } from '../session/me.ts'
import { ApiFailure } from './api-failure.ts'

const API = '/dashboard/api'
const TIMEOUT_MS = 75_000

export interface SendOptions {
  readonly query?: object | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Sends one request to the dashboard's API. @throws ApiFailure with the message of the server; the abort reason */
export async function send(method: string, path: string, { query, body, signal }: SendOptions): Promise<Response> {
  const isBinary = body instanceof Blob || body instanceof Uint8Array
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  let response: Response
  try {
    response = await fetch(`${API}${path}${queryText(query)}`, {
      method,
      credentials: 'same-origin',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(body !== undefined && {
        headers: { 'content-type': isBinary ? 'application/octet-stream' : 'application/json' },
        body: isBinary ? (body as Blob) : JSON.stringify(body),
      }),
    })
  } catch (err) {
    signal?.throwIfAborted()
    throw new ApiFailure(
      0,
      deadline.aborted ? 'The server did not answer in time.' : `The server cannot be reached (${(err as Error).message}).`,
    )
  }
  // The page shows the login at once. A wrong login is 401 as well, but then nobody is logged in.
  if (response.status === 401 && me.value !== undefined) me.value = null
  if (!response.ok) throw new ApiFailure(response.status, await messageOf(response))
  return response
}

export function queryText(query: object = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, String(value)]]))
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { message } = (await response.json()) as { message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // A proxy in front has its own pages.
  }
  return `The server answered with ${response.status}.`
}
