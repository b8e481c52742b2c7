import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** What sandboxes send is never shown as a page of this origin: it is downloaded, whatever it says of itself (dashboard-and-cli.md 5.3). */
const DOWNLOAD_HEADERS = {
  'content-type': 'application/octet-stream',
  'content-security-policy': 'sandbox',
  'cache-control': 'no-store',
} as const

export interface Content {
  readonly name: string
  readonly body: Readable | Buffer
  /** Undefined: not known before it has been sent. */
  readonly bytes?: number | undefined
}

export function sendContent(reply: FastifyReply, { name, body, bytes }: Content): FastifyReply {
  return reply
    .code(200)
    .headers({ ...DOWNLOAD_HEADERS, 'content-disposition': attachment(name), ...(bytes !== undefined && { 'content-length': bytes }) })
    .send(body)
}

/** RFC 6266: the name as UTF-8, percent-encoded. */
function attachment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}
