import type { FastifyContextConfig } from 'fastify'
import { ErrorBody } from '@sandyard/api-contract/error-body'
import type { Operation } from '@sandyard/api-contract/operation'
import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'

interface OperationRoute {
  readonly method: Operation['method']
  readonly url: string
  readonly config: FastifyContextConfig
}

const BY_ID = new Map<OperationId, Operation>(OPERATIONS.map((operation) => [operation.id, operation]))

/** Method, path and config of the route of an operation, from the table of operations. */
export function operation(id: OperationId, options: { readonly isBodyOptional?: boolean } = {}): OperationRoute {
  const found = BY_ID.get(id)
  if (found === undefined) throw new Error(`there is no operation ${id}`)
  return { method: found.method, url: toUrl(found.path), config: { operation: found, ...options } }
}

/** Converts `/sandboxes/{sandboxID}` to the form of the router: `/sandboxes/:sandboxID`. */
export function toUrl(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 410 | 416 | 422 | 429 | 500 | 501 | 502 | 503 | 504 | 507

const MEANINGS: Readonly<Record<ErrorStatus, string>> = {
  400: 'Bad request',
  401: 'Authentication error',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  410: 'Gone',
  416: 'Range not satisfiable',
  422: 'Unprocessable request',
  429: 'Too many requests',
  500: 'Server error',
  501: 'Not implemented',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Timeout',
  507: 'Insufficient storage',
}

/** One schema for each status: a schema is compiled once, however many operations have it. */
const ANSWERS = Object.fromEntries(
  Object.entries(MEANINGS).map(([status, description]) => [status, { ...ErrorBody, description }]),
) as unknown as Readonly<Record<ErrorStatus, typeof ErrorBody>>

/** The error answers of an operation for its schema. */
export function errors<S extends ErrorStatus>(...statuses: readonly S[]): Record<S, typeof ErrorBody> {
  return Object.fromEntries(statuses.map((status) => [status, ANSWERS[status]])) as Record<S, typeof ErrorBody>
}
