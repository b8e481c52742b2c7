import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody } from '@sandyard/api-contract/error-body'
import { isDatabaseFull, isDatabaseUnavailable, isStatementTimeout } from '@sandyard/db/database-unavailable'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import { noRouteMessage, validationMessage } from './validation-message.ts'

/** The media type of every answer with JSON (control-plane.md 1.4). */
export const JSON_TYPE = 'application/json; charset=utf-8'

export interface ErrorReply {
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>
  /** A bug or a failed dependency. The log gets the whole error. */
  readonly isUnexpected: boolean
}

const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT'])

type Origin = Pick<FastifyRequest, 'method' | 'url' | 'headers'>

/** Converts an error to the common error shape. Clients do not see the message of an unexpected error. */
export function toErrorReply(error: unknown, origin: Origin): ErrorReply {
  if (isDatabaseUnavailable(error)) return databaseUnavailable('The database cannot be reached: try again', origin)
  if (isStatementTimeout(error)) return databaseUnavailable('The database took too long: try again', origin)
  if (isDatabaseFull(error)) return databaseUnavailable('The database has no disk or memory left: try again later', origin)
  if (isAppError(error)) {
    const code = httpStatus(error.kind)
    const body = { code, message: error.message, ...(error.reason !== undefined && { error_code: error.reason }) }
    return { body, headers: error.headers, isUnexpected: false }
  }
  const known = error instanceof Error ? (error as FastifyError) : undefined
  if (known?.validation !== undefined) return refusal(400, unsupportedClientMessage(origin) ?? validationMessage(known))
  if (known?.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refusal(413, 'Request body is too large: the limit is 16 MiB')
  if (known?.code === 'FST_ERR_HANDLER_TIMEOUT') {
    return { body: { code: 504, message: 'The request took too long' }, headers: { 'should-retry': 'false' }, isUnexpected: true }
  }
  const status = known?.statusCode
  if (known !== undefined && status !== undefined && status >= 400 && status < 500) return refusal(status, known.message)
  return { body: { code: 500, message: 'Internal server error' }, headers: {}, isUnexpected: true }
}

export function sendErrorReply(reply: FastifyReply, { body, headers }: ErrorReply): FastifyReply {
  return reply.code(body.code).headers(headers).type(JSON_TYPE).send(body)
}

/** The answer when no operation has this method and path (control-plane.md 1.5). */
export function toNoRouteReply(origin: Origin): ErrorReply {
  // Clients do not encode the names of secrets, so one may have a slash (control-plane.md 16).
  if (origin.url.startsWith('/secrets/')) return refusal(404, 'Not found')
  return refusal(404, unsupportedClientMessage(origin) ?? noRouteMessage)
}

export const missingHostReply: ErrorReply = refusal(400, 'Bad Request: the Host header is missing')

/** Another statement of the request may have made a change before, or a lost one has, so clients repeat such a request only when it has a key for that. */
function databaseUnavailable(message: string, { method, headers }: Origin): ErrorReply {
  const isRepeatable = REPEATABLE.has(method) || headers['idempotency-key'] !== undefined
  return {
    body: { code: 503, message },
    headers: isRepeatable ? { 'retry-after': '1' } : { 'retry-after': '1', 'should-retry': 'false' },
    isUnexpected: false,
  }
}

function refusal(code: number, message: string): ErrorReply {
  return { body: { code, message }, headers: {}, isUnexpected: false }
}

/** The message for clients that are no longer supported. */
function unsupportedClientMessage({ url, headers }: Origin): string | undefined {
  if (/^\/(instances|envs)/.test(url)) return 'Endpoints are deprecated, please update your SDK to use the new endpoints.'
  if (url.startsWith('/templates') && headers['content-type']?.startsWith('multipart/form-data') === true) {
    return 'Endpoint deprecated please update your CLI to the latest version'
  }
  return undefined
}
