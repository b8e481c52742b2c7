import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JSON_TYPE } from '../../http/error-reply.ts'
import { callService, type ServiceCall } from './call-service.ts'
import type { FileServices } from './file-services.ts'

export interface ForwardOptions extends Pick<ServiceCall, 'idleTimeoutMs' | 'timeoutMs'> {
  readonly body?: string | IncomingMessage
  readonly admit?: ServiceCall['admit']
  /** Called before a 201 is passed back. */
  readonly onStored?: () => Promise<void>
}

const MINUTE_MS = 60_000

/** The timeouts of the clients (control-plane.md 20.1). */
export const ORDINARY = { idleTimeoutMs: MINUTE_MS, timeoutMs: MINUTE_MS } as const
export const TRANSFER = { idleTimeoutMs: 5 * MINUTE_MS, timeoutMs: 60 * MINUTE_MS } as const

const REQUEST_HEADERS = ['content-type', 'content-length', 'range'] as const
const ANSWER_HEADERS = ['content-type', 'content-length', 'content-range', 'accept-ranges'] as const
const JSON_ANSWER = /^application\/json\b/

/**
 * Passes an authorized request to the file service of its volume, and the answer back as it comes. The returned value is the reply, for Fastify; the
 * schema of the answer describes what the service sends.
 */
export async function forward(
  services: FileServices,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { body, admit, onStored, ...limits }: ForwardOptions,
): Promise<void> {
  const { volumeID } = request.params as { readonly volumeID: string }
  const volumeId = volumeID.toLowerCase()
  const { raw, facts } = request
  const [route = '', search = ''] = splitOnce(raw.url ?? '')
  const socket = await services.connect(volumeId, facts.teamId ?? '')
  const answer = await callService(socket, {
    method: request.method,
    path: `${route.slice(route.lastIndexOf('/'))}?${search}`,
    key: services.keyOf(volumeId),
    headers: typeof body === 'string' ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : pick(raw),
    body,
    admit,
    ...limits,
  })
  const status = answer.statusCode ?? 500
  if (status === 401) {
    answer.destroy()
    throw new Error('the file service of the volume has another key')
  }
  // The file is stored whether it could be counted or not; the next measurement counts it.
  if (status === 201) await onStored?.().catch((err: unknown) => request.log.warn({ err, volumeId }, 'bytes of a volume were not counted'))
  void reply.code(status).headers(Object.fromEntries(ANSWER_HEADERS.flatMap((name) => headerOf(answer, name))))
  if (JSON_ANSWER.test(answer.headers['content-type'] ?? '')) void reply.type(JSON_TYPE)
  if (status === 204) answer.resume()
  return reply.send(status === 204 ? null : answer) as unknown as void
}

function splitOnce(url: string): string[] {
  const at = url.indexOf('?')
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)]
}

function pick(raw: IncomingMessage): Record<string, string> {
  return Object.fromEntries(REQUEST_HEADERS.flatMap((name) => headerOf(raw, name)))
}

function headerOf({ headers }: IncomingMessage, name: string): [string, string][] {
  const value = headers[name]
  return typeof value === 'string' ? [[name, value]] : []
}
