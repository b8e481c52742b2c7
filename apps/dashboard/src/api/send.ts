import { COOKIES_CLEANED_HEADER } from '@sandyard/dashboard-contract/headers'
import { me } from '../session/me.ts'
import { ApiFailure } from './api-failure.ts'

const API = '/dashboard/api'
const TIMEOUT_MS = 75_000

export interface SendOptions {
  readonly query?: object | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends one request to the dashboard's API. An upload may take any time while it makes progress; all else has a deadline.
 *
 * @throws ApiFailure with the message of the server; the abort reason
 */
export async function send(method: string, path: string, options: SendOptions): Promise<Response> {
  let response = await exchange(method, path, options)
  // Another page of the site had set a cookie with the name of ours, which is removed now.
  if (response.status === 401 && response.headers.has(COOKIES_CLEANED_HEADER)) response = await exchange(method, path, options)
  // The page shows the login at once. A wrong login is 401 as well, but then nobody is logged in.
  if (response.status === 401 && me.value !== undefined) me.value = null
  if (!response.ok) throw new ApiFailure(response.status, await messageOf(response))
  return response
}

async function exchange(method: string, path: string, { query, body, signal }: SendOptions): Promise<Response> {
  const url = `${API}${path}${queryText(query)}`
  try {
    if (body instanceof Blob || body instanceof Uint8Array) {
      const { upload } = await import('./upload.ts')
      return await upload({ method, url, body: body as Blob | Uint8Array<ArrayBuffer>, stillMs: TIMEOUT_MS, signal })
    }
    const deadline = AbortSignal.timeout(TIMEOUT_MS)
    return await fetch(url, {
      method,
      credentials: 'same-origin',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  } catch (err) {
    signal?.throwIfAborted()
    const isLate = err instanceof Error && ['TimeoutError', 'UploadStill'].includes(err.name)
    throw new ApiFailure(0, isLate ? 'The server did not answer in time.' : `The server cannot be reached (${(err as Error).message}).`)
  }
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
