import type { OutgoingHttpHeaders } from 'node:http'
import { type Answer, exchange } from './http-exchange.ts'

/** Uploads a raw body for the account `daemon`. */
export function putFile(
  url: string,
  path: string,
  { body, headers }: { body: string | Buffer; headers?: OutgoingHttpHeaders | undefined },
): Promise<Answer> {
  return exchange(url, {
    method: 'POST',
    path: `/files?username=daemon&path=${encodeURIComponent(path)}`,
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body,
  })
}

/** A part of a form whose boundary is `XX`. */
export function part(disposition: string, data: string): string {
  return `--XX\r\nContent-Disposition: ${disposition}\r\n\r\n${data}\r\n`
}

/** A part with a file and its name. */
export function filePart(name: string, data: string): string {
  return part(`form-data; name="file"; filename="${name}"`, data)
}
