import type { IncomingHttpHeaders } from 'node:http'
import { renderErrorPage } from './error-page.ts'
import { wantsHtml } from './wants-html.ts'

/** Why the proxy answers by itself instead of the sandbox. */
export type Problem =
  | { readonly kind: 'bad_request'; readonly message: string }
  | { readonly kind: 'reserved_route'; readonly path: string }
  | { readonly kind: 'not_found'; readonly sandboxId: string }
  | { readonly kind: 'port_closed'; readonly sandboxId: string; readonly port: number }
  | { readonly kind: 'no_answer'; readonly sandboxId: string; readonly port: number }
  /** No sandbox is known yet where a signed URL names none. */
  | { readonly kind: 'unavailable'; readonly sandboxId: string | undefined }
  | { readonly kind: 'invalid_signature' }
  | { readonly kind: 'too_many_signed' }
  /** A defect of the proxy. */
  | { readonly kind: 'internal' }

/** Thrown on the way of a request to its sandbox; the entry points render it. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly problem: Problem

  constructor(problem: Problem, cause?: unknown) {
    super(problem.kind, { cause })
    this.problem = problem
  }
}

export interface ErrorAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

interface ErrorBody {
  readonly [field: string]: string | number | undefined
  readonly message: string
  readonly code: number
}

/** The answer to a client, byte for byte as in control-plane.md 19.1 and 19.3: SDKs compare messages. */
export function renderProblem(problem: Problem, headers: IncomingHttpHeaders): ErrorAnswer {
  if (problem.kind === 'bad_request') return { status: 400, contentType: 'text/plain; charset=utf-8', body: problem.message }
  const body = errorBody(problem)
  const page = wantsHtml(headers) ? renderErrorPage(problem) : undefined
  if (page !== undefined) return { status: body.code, contentType: 'text/html; charset=utf-8', body: page }
  return { status: body.code, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

/** The order of the keys is the documented one. */
function errorBody(problem: Exclude<Problem, { kind: 'bad_request' }>): ErrorBody {
  if (problem.kind === 'reserved_route') {
    const message = 'This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL'
    return { message, path: problem.path, code: 404 }
  }
  // In the daemon's words (envd.md 3.3): no sandbox has signed this.
  if (problem.kind === 'invalid_signature') return { code: 401, message: 'invalid signature' }
  if (problem.kind === 'too_many_signed') return { code: 429, message: 'Too many signed URLs are being looked up. Try again in a moment.' }
  if (problem.kind === 'internal') return { message: 'Internal server error', code: 500 }
  const { sandboxId } = problem
  switch (problem.kind) {
    case 'not_found':
      return { sandboxId, message: 'The sandbox was not found', code: 502 }
    case 'port_closed':
      return { sandboxId, message: 'The sandbox is running but port is not open', port: problem.port, code: 502 }
    case 'no_answer': {
      const message = 'The sandbox is running but the service closed the connection without an answer'
      return { sandboxId, message, port: problem.port, code: 502 }
    }
    case 'unavailable':
      return {
        ...(sandboxId !== undefined && { sandboxId }),
        message: 'The sandbox cannot be reached right now. Try again in a moment.',
        code: 503,
      }
  }
}
