import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestFacts } from './request-facts.ts'
import type { Span } from './span.ts'

/** What the code that runs now works for. It is passed on by every promise, timer and callback that the code begins. */
export interface Scope {
  readonly request?: RequestFacts | undefined
  /** Undefined while tracing is off. */
  readonly span?: Span | undefined
  /** Whom it counts for, where that is not the team or the client of the request; null: the process itself. */
  readonly owner?: string | null
}

const scopes = new AsyncLocalStorage<Scope>()

/** Undefined outside of requests: in loops, and in parts that the process has started. */
export function currentScope(): Scope | undefined {
  return scopes.getStore()
}

export function runInScope<T>(scope: Scope, work: () => T): T {
  return scopes.run(scope, work)
}

/** The fields of every line of the log that is written for a request. */
export function scopeFields(): { requestId?: string; traceId?: string } {
  const scope = scopes.getStore()
  if (scope === undefined) return {}
  const { request, span } = scope
  return { ...(request !== undefined && { requestId: request.id }), ...(span?.isRecording === true && { traceId: span.traceId }) }
}

/** The id of the request that is served now. */
export function currentRequestId(): string | undefined {
  return scopes.getStore()?.request?.id
}

/** Whom the current work counts for: the team of its request, or its client. Undefined for work of the process itself. */
export function currentOwner(): string | undefined {
  const { owner, request } = scopes.getStore() ?? {}
  return owner === undefined ? (request?.teamId ?? request?.client) : (owner ?? undefined)
}

/** Runs work that counts for a team, also where no request asks for it. */
export function runForOwner<T>(owner: string, work: () => T): T {
  return scopes.run({ ...scopes.getStore(), owner }, work)
}

/** Runs work whose result several requests share. It counts for the process, so it does not wait for other work of the team that sent the first request. */
export function runForAll<T>(work: () => T): T {
  return scopes.run({ ...scopes.getStore(), owner: null }, work)
}

/** Records the team that the current request acts for. */
export function noteTeam(teamId: string): void {
  const request = scopes.getStore()?.request
  if (request !== undefined) request.teamId = teamId
}

/** The headers by which a call of ours is known as a part of the current request. */
export function scopeHeaders(): Record<string, string> {
  const scope = scopes.getStore()
  if (scope === undefined) return {}
  const { request, span } = scope
  return { ...(request !== undefined && { 'x-request-id': request.id }), ...span?.headers }
}
