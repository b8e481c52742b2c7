import type { FastifyRequest } from 'fastify'
import type { AuditEntry, Caller } from '../audit/audit-entry.ts'
import { auditTargets } from '../audit/audit-targets.ts'
import type { Principal } from '../auth/principal.ts'

const ERROR_STATUS = 400

export interface AuditedAnswer {
  readonly status: number
  /** Before it is written; undefined without one. */
  readonly answer: unknown
}

export function toAuditEntry(request: FastifyRequest, { status, answer }: AuditedAnswer): Omit<AuditEntry, 'isStored'> {
  const { principal, facts, params, body, ip } = request
  const { operation: served, auditedAs } = request.routeOptions.config
  const operation = auditedAs ?? served?.id ?? ''
  // An operation without credentials names its team only after it has checked the signature of the link.
  const caller = principal === null ? (facts.teamId === undefined ? undefined : ({ kind: 'link' } as const)) : callerOf(principal)
  return {
    at: new Date(),
    caller,
    teamId: principal?.team?.id ?? facts.teamId,
    clientAddress: ip,
    requestId: facts.id,
    operation,
    targets: {
      ...auditTargets({ operation, params, body, answer: status < ERROR_STATUS ? answer : undefined }),
      ...(principal?.dashboardSessionId !== undefined && { via: 'dashboard' }),
    },
    status,
  }
}

/** What an audit record says of a caller. */
export function callerOf({ apiKeyId, accessTokenId, user }: Principal): Caller {
  if (apiKeyId !== undefined) return { kind: 'key', credentialId: apiKeyId, userId: user?.id }
  return user === undefined ? { kind: 'admin' } : { kind: 'user', credentialId: accessTokenId, userId: user.id }
}
