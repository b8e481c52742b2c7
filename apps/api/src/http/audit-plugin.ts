import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { isMutating } from '@sandyard/api-contract/operation'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { isStoredWithChange } from './change-audit.ts'
import { toAuditEntry } from './to-audit-entry.ts'
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
      const entry = toAuditEntry(request, { status: reply.statusCode, answer: answers.get(request) })
      if (isStoredWithChange(request, entry.status)) return audit.note({ ...entry, isStored: true })
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

/** Undefined when the caller is not known. */
function ownerOf({ teamId, caller }: Pick<AuditEntry, 'teamId' | 'caller'>): string | undefined {
  if (caller === undefined || teamId !== undefined) return teamId
  return caller.kind === 'user' ? caller.userId : caller.kind
}
