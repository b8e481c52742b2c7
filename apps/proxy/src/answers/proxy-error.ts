/** A cap of the proxy that refused something (docs/limits.md). Also the label of the metric. */
export const CAPS = [
  'connections',
  'client_connections',
  'requests',
  'client_requests',
  'head_bytes',
  'client_head_bytes',
  'sandbox_connections',
  'waiting',
  'sandbox_waiting',
  'sandbox_client_connections',
  'interim_answers',
  'answer_heads',
  'route_lookups',
  'signed_lookups',
] as const
export type Cap = (typeof CAPS)[number]

/** Why the proxy answers by itself instead of the sandbox. */
export type Problem =
  | { readonly kind: 'bad_request'; readonly message: string }
  /** A control-plane-only route of the daemon. */
  | { readonly kind: 'reserved_route'; readonly path: string; readonly sandboxId: string | undefined }
  /** The sandbox is unknown where the request named none. */
  | { readonly kind: 'not_found'; readonly sandboxId: string | undefined }
  | { readonly kind: 'port_closed'; readonly sandboxId: string; readonly port: number }
  | { readonly kind: 'no_answer'; readonly sandboxId: string; readonly port: number }
  | { readonly kind: 'traffic_token'; readonly fault: 'missing' | 'invalid'; readonly sandboxId: string }
  /** The credentials of the request, or the team of the sandbox, do not allow to resume it. */
  | { readonly kind: 'resume_refused'; readonly sandboxId: string }
  /** The limit of the team that prevents the resume, in the words of the control plane. */
  | { readonly kind: 'resume_limit'; readonly sandboxId: string; readonly message: string }
  /** The state still changes after the longest wait. */
  | { readonly kind: 'transitioning'; readonly sandboxId: string }
  /** The sandbox is unknown while its token is being searched. */
  | { readonly kind: 'unavailable'; readonly sandboxId: string | undefined }
  | { readonly kind: 'invalid_signature' }
  | { readonly kind: 'limit'; readonly cap: Cap; readonly limit: number; readonly sandboxId?: string }
  /** A defect of the proxy. */
  | { readonly kind: 'internal' }

/** Thrown while a request is routed or forwarded; the entry points convert it to an answer. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly problem: Problem

  constructor(problem: Problem, cause?: unknown) {
    super(problem.kind, { cause })
    this.problem = problem
  }
}

/** @param message sent to the client unchanged */
export function badRequest(message: string): ProxyError {
  return new ProxyError({ kind: 'bad_request', message })
}

export function toProxyError(err: unknown): ProxyError {
  return err instanceof ProxyError ? err : new ProxyError({ kind: 'internal' }, err)
}
