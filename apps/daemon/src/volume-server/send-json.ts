import type { ServerResponse } from 'node:http'

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
}
