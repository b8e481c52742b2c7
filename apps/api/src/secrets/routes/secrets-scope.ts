import type { FastifyError, FastifyRequest } from 'fastify'
import { isStatementTimeout } from '@sandyard/db/database-unavailable'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { toErrorReply } from '../../http/error-reply.ts'
import { invalidSecretsRequest, secretsBackendFailed, secretsBackendTimedOut, secretsUnavailable } from '../secret-errors.ts'

/** Deadline of every operation (control-plane.md 16). */
const TIMEOUT_MS = 25_000

/**
 * What the operations on secrets have in common: their deadline, and their errors with fixed texts, which repeat nothing of the request
 * (control-plane.md 16). Errors of the authentication keep their texts.
 */
export const SECRETS_SCOPE = {
  handlerTimeout: TIMEOUT_MS,
  errorHandler: async (error: FastifyError, request: FastifyRequest): Promise<never> => {
    throw toSecretsError(error, request)
  },
}

/** @throws AppError `permission_denied` when the operator has given no key */
export function getKeyRing(ring: KeyRing | undefined): KeyRing {
  if (ring === undefined) throw secretsUnavailable()
  return ring
}

/** The common handler reads causes, and would answer by them. */
function toSecretsError(error: FastifyError, request: FastifyRequest): Error {
  if (request.principal === null) return error
  const { body, headers } = toErrorReply(error, request)
  if (body.code === 400) return invalidSecretsRequest()
  if (body.code !== 503 && body.code !== 504) return error
  // The backend is the database.
  request.log.warn({ err: error }, 'secrets cannot be read or stored')
  return body.code === 504 || isStatementTimeout(error) ? secretsBackendTimedOut(headers) : secretsBackendFailed(headers)
}
