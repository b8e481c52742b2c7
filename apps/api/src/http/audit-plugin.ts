import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isMutating } from '@sandyard/api-contract/operation'
import type { AuditEntry, Caller } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { auditTargets } from '../audit/audit-targets.ts'
import type { Principal } from '../auth/principal.ts'
import { TokenBuckets, type BucketLimit } from './token-bucket.ts'

/**
 * Refused calls of one team that are stored: a call that is refused at once costs its team nothing, but a row costs the operator its space.
 */
const REFUSED_LIMIT: BucketLimit = { rate: 5, periodSeconds: 1, burst: 1000 }
const REFUSED_STATUS = 400

export interface AuditPluginOptions {
  readonly audit: AuditLog
  /** Default: five in a second, after a thousand. */
  readonly refusedLimit?: BucketLimit | undefined
}

/**
 * Records every call of an operation that changes something, when its answer is ready and before it is sent: also when the client has
 * disconnected, and when the operation was refused. Refused calls over the limit are in the log only.
 */
export const auditPlugin = fp<AuditPluginOptions>(
  async (app, { audit, refusedLimit = REFUSED_LIMIT }) => {
    const refused = new TokenBuckets()
    const answers = new WeakMap<FastifyRequest, unknown>()
    app.addHook('preSerialization', async (request, _reply, payload) => {
      if (isRecorded(request)) answers.set(request, payload)
      return payload
    })
    app.addHook('onSend', async (request, reply) => {
      if (!isRecorded(request)) return
      const entry = toEntry(request, reply, answers.get(request))
      const owner = ownerOf(entry)
      const isStored = entry.status < REFUSED_STATUS || owner === undefined || refused.take(owner, refusedLimit).isAllowed
      await audit.record({ ...entry, isStored })
    })
  },
  { name: 'audit' },
)

function isRecorded({ routeOptions }: FastifyRequest): boolean {
  const { operation, auditedAs } = routeOptions.config
  return auditedAs !== undefined || (operation !== undefined && isMutating(operation))
}

function toEntry(request: FastifyRequest, { statusCode: status }: FastifyReply, answer: unknown): Omit<AuditEntry, 'isStored'> {
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
      ...auditTargets({ operation, params, body, answer: status < REFUSED_STATUS ? answer : undefined }),
      ...(principal?.dashboardSessionId !== undefined && { via: 'dashboard' }),
    },
    status,
  }
}

/** Undefined when the caller is not known. */
function ownerOf({ teamId, caller }: Pick<AuditEntry, 'teamId' | 'caller'>): string | undefined {
  if (caller === undefined || teamId !== undefined) return teamId
  return caller.kind === 'user' ? caller.userId : caller.kind
}

/** What an audit record says of a caller. */
export function callerOf({ apiKeyId, accessTokenId, user }: Principal): Caller {
  if (apiKeyId !== undefined) return { kind: 'key', credentialId: apiKeyId, userId: user?.id }
  return user === undefined ? { kind: 'admin' } : { kind: 'user', credentialId: accessTokenId, userId: user.id }
}
