import type { FastifyReply, FastifyRequest } from 'fastify'
import { VolumeContentError } from '@sandyard/api-contract/volumes/volume-content'
import { JSON_TYPE, toErrorReply } from '../../http/error-reply.ts'

/** The codes of errors that come from this server and not from the file service (control-plane.md 15.4). */
const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'PATH_NOT_FOUND',
  413: 'INVALID_REQUEST',
  429: 'TOO_MANY_REQUESTS',
  501: 'NOT_SUPPORTED',
  503: 'UNAVAILABLE',
  504: 'TIMEOUT',
  507: 'INSUFFICIENT_STORAGE',
}

/** Sends the errors of the content of volumes, whose `code` is a text. */
export function sendContentError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body, headers, isUnexpected } = toErrorReply(error, request)
  if (isUnexpected) request.log.error({ err: error }, 'request failed unexpectedly')
  const code = body.error_code ?? CODES[body.code] ?? 'INTERNAL'
  return reply.code(body.code).headers(headers).type(JSON_TYPE).send({ code, message: body.message })
}

/** One schema: it is compiled once. */
const ANSWER = { ...VolumeContentError, description: 'Error with a text as its code' }

/** The error answers of an operation on the content of volumes. */
export function contentErrors<S extends number>(...statuses: readonly S[]): Record<S, typeof VolumeContentError> {
  return Object.fromEntries(statuses.map((status) => [status, ANSWER])) as unknown as Record<S, typeof VolumeContentError>
}
