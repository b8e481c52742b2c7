import { renderErrorPage, wantsHtml } from './error-page.ts'
import { LIMIT_TEXTS } from './limit-texts.ts'
import { TRAFFIC_TOKEN } from '../message/token-headers.ts'
import type { Problem } from './proxy-error.ts'
import type { RequestHead } from '../message/downstream-message.ts'

export interface ErrorAnswer {
  readonly status: number
  /** Name, value, name, value; without the content length. */
  readonly headers: readonly string[]
  readonly body: string
}

interface ErrorBody {
  readonly [field: string]: string | number | undefined
  readonly message: string
  readonly code: number
}

/** Statuses of temporary failures: the client may repeat the request after a second. */
const RETRY: ReadonlySet<number> = new Set([429, 503])

/**
 * An answer of the proxy itself, byte for byte as in control-plane.md 19.1 and 19.3, because SDKs compare messages. Scripts of
 * any page may read it, because it contains only data of the request.
 */
export function renderProblem(problem: Problem, { headers: { origin, ...headers } }: Pick<RequestHead, 'headers'>): ErrorAnswer {
  const { status, contentType, body } = renderBody(problem, wantsHtml(headers))
  const own = ['Content-Type', contentType, 'Cache-Control', 'no-store']
  if (RETRY.has(status)) own.push('Retry-After', '1')
  if (origin !== undefined) own.push('Access-Control-Allow-Origin', '*', 'Vary', 'Origin')
  return { status, headers: own, body }
}

/**
 * The answer to a browser's preflight for a daemon that cannot be reached, or undefined when the request is not one. The daemon
 * allows every origin (envd.md 2.3); without this answer a script could not read the reason of the failure. The rules of users' services
 * are unknown while they do not answer. `Max-Age` 0 keeps browsers from caching the answer.
 */
export function preflightHeaders({ method, headers }: Pick<RequestHead, 'method' | 'headers'>): string[] | undefined {
  const asked = headers['access-control-request-method']
  if (method !== 'OPTIONS' || headers.origin === undefined || asked === undefined) return undefined
  const names = headers['access-control-request-headers']
  const allowed = ['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Methods', asked, 'Access-Control-Max-Age', '0']
  return names === undefined ? allowed : [...allowed, 'Access-Control-Allow-Headers', names]
}

function renderBody(problem: Problem, isHtml: boolean): { readonly status: number; readonly contentType: string; readonly body: string } {
  if (problem.kind === 'bad_request') return { status: 400, contentType: 'text/plain; charset=utf-8', body: problem.message }
  const body = errorBody(problem)
  const page = isHtml ? renderErrorPage(problem, body.code) : undefined
  if (page !== undefined) return { status: body.code, contentType: 'text/html; charset=utf-8', body: page }
  return { status: body.code, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

/** The order of the keys is documented; the sandbox is omitted when it is unknown. */
function errorBody(problem: Exclude<Problem, { kind: 'bad_request' }>): ErrorBody {
  switch (problem.kind) {
    case 'reserved_route': {
      const message = 'This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL'
      return { message, path: problem.path, code: 404 }
    }
    // The daemon's text (envd.md 3.3): no sandbox has signed this URL.
    case 'invalid_signature':
      return { code: 401, message: 'invalid signature' }
    case 'internal':
      return { message: 'Internal server error', code: 500 }
    case 'not_found':
      return { sandboxId: problem.sandboxId, message: 'The sandbox was not found', code: 502 }
    case 'port_closed': {
      const message = 'The sandbox is running but port is not open'
      return { sandboxId: problem.sandboxId, message, port: problem.port, code: 502 }
    }
    case 'no_answer': {
      const message = 'The sandbox is running but the service closed the connection without an answer'
      return { sandboxId: problem.sandboxId, message, port: problem.port, code: 502 }
    }
    case 'traffic_token': {
      const fault =
        problem.fault === 'missing'
          ? `Token header '${TRAFFIC_TOKEN}' is missing`
          : `Provided token in header '${TRAFFIC_TOKEN}' is invalid`
      return { sandboxId: problem.sandboxId, message: `Sandbox is secured with traffic access token. ${fault}`, code: 403 }
    }
    case 'resume_refused': {
      const message = "This sandbox can't be resumed with the credentials provided. Check your access token and try again."
      return { sandboxId: problem.sandboxId, message, code: 403 }
    }
    case 'resume_limit':
      return { sandboxId: problem.sandboxId, message: problem.message, code: 429 }
    case 'transitioning':
      return { sandboxId: problem.sandboxId, message: 'The sandbox is still transitioning. Try again in a moment.', code: 409 }
    case 'unavailable':
      return { sandboxId: problem.sandboxId, message: 'The sandbox cannot be reached right now. Try again in a moment.', code: 503 }
    case 'limit': {
      const { cap, limit, sandboxId } = problem
      const { status, message, setting } = LIMIT_TEXTS[cap]
      const field = cap === 'sandbox_connections' ? { connectionLimit: limit } : { limit }
      return { sandboxId, message: message(limit), ...field, setting, code: status }
    }
  }
}
