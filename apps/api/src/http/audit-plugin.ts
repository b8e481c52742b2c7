import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isMutating } from '@sandyard/api-contract/operation'
import type { AuditEntry, Caller } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { auditTargets } from '../audit/audit-targets.ts'
import type { Principal } from '../auth/principal.ts'

/**
 * Records every call of an operation that changes something, when its answer is ready and before it is sent: also when the client has
 * disconnected, and when the operation was refused.
 */
export const auditPlugin = fp<{ audit: AuditLog }>(
  async (app, { audit }) => {
    const answers = new WeakMap<FastifyRequest, unknown>()
    app.addHook('preSerialization', async (request, _reply, payload) => {
      if (isRecorded(request)) answers.set(request, payload)
      return payload
    })
    app.addHook('onSend', async (request, reply) => {
      if (isRecorded(request)) await audit.record(toEntry(request, reply, answers.get(request)))
    })
  },
  { name: 'audit' },
)

function isRecorded({ routeOptions }: FastifyRequest): boolean {
  const { operation } = routeOptions.config
  return operation !== undefined && isMutating(operation)
}

function toEntry(request: FastifyRequest, { statusCode: status }: FastifyReply, answer: unknown): AuditEntry {
  const { principal, facts, params, body, ip } = request
  const operation = request.routeOptions.config.operation?.id ?? ''
  // An operation without credentials names its team only after it has checked the signature of the link.
  const caller = principal === null ? (facts.teamId === undefined ? undefined : ({ kind: 'link' } as const)) : callerOf(principal)
  return {
    at: new Date(),
    caller,
    teamId: principal?.team?.id ?? facts.teamId,
    clientAddress: ip,
    requestId: facts.id,
    operation,
    targets: auditTargets({ operation, params, body, answer: status < 400 ? answer : undefined }),
    status,
  }
}

function callerOf({ apiKeyId, accessTokenId, user }: Principal): Caller {
  if (apiKeyId !== undefined) return { kind: 'key', credentialId: apiKeyId, userId: user?.id }
  return user === undefined ? { kind: 'admin' } : { kind: 'user', credentialId: accessTokenId, userId: user.id }
}
