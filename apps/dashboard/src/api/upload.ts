import { ProgressDeadline } from './progress-deadline.ts'

export interface Upload {
  readonly method: string
  readonly url: string
  readonly body: Blob | Uint8Array<ArrayBuffer>
  /** The upload ends when no byte has been sent, and no answer has come, for so long. It may take any time in all. */
  readonly stillMs: number
  readonly signal?: AbortSignal | undefined
}

/** The server has stood still for too long. */
class UploadStill extends Error {
  override readonly name = 'UploadStill'
}

/**
 * Sends a body of any size. `fetch` does not tell what it has sent, so it cannot tell a slow connection from one that stands still.
 *
 * @throws UploadStill; TypeError when the server cannot be reached, as of `fetch`; the abort reason
 */
export async function upload({ method, url, body, stillMs, signal }: Upload): Promise<Response> {
  signal?.throwIfAborted()
  const request = new XMLHttpRequest()
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  using deadline = new ProgressDeadline(stillMs, () => {
    reject(new UploadStill('nothing was sent'))
    request.abort()
  })
  const heard = (): void => deadline.heard()
  const stop = (): void => request.abort()
  request.open(method, url)
  request.responseType = 'blob'
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.upload.addEventListener('progress', heard)
  request.addEventListener('progress', heard)
  request.addEventListener('load', () => resolve(toResponse(request)))
  request.addEventListener('error', () => reject(new TypeError('the connection was lost')))
  request.addEventListener('abort', () => reject(signal?.reason))
  signal?.addEventListener('abort', stop)
  try {
    request.send(body)
    return await promise
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Statuses whose responses must not have a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

function toResponse(request: XMLHttpRequest): Response {
  const headers = request
    .getAllResponseHeaders()
    .split('\r\n')
    .flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]]
    })
  const body = WITHOUT_BODY.has(request.status) ? null : (request.response as Blob)
  return new Response(body, { status: request.status, statusText: request.statusText, headers })
}
