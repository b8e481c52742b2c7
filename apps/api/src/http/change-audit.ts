import type { FastifyRequest } from 'fastify'
import { auditingChange } from '../audit/audit-rows.ts'
import type { ChangeAudit } from '../audit/change-audit.ts'
import { requirePrincipal } from '../auth/principal.ts'
import { callerOf, toAuditEntry } from './to-audit-entry.ts'

/** The status of the stored record. */
const stored = new WeakMap<FastifyRequest, number>()

export interface ChangeAuditOptions<Answer> {
  /** Of the answer when the change is made. */
  readonly status: number
  readonly toBody: (answer: Answer) => unknown
}

/** For a handler whose change stores the record of the call. If another answer is sent in the end, that one has a record too. */
export function changeAudit<Answer>(request: FastifyRequest, { status, toBody }: ChangeAuditOptions<Answer>): ChangeAudit<Answer> {
  return {
    statement: (answer) => {
      const caller = callerOf(requirePrincipal(request.principal))
      return auditingChange({ ...toAuditEntry(request, { status, answer: toBody(answer) }), caller, isStored: true })
    },
    stored: () => void stored.set(request, status),
  }
}

export function isStoredWithChange(request: FastifyRequest, status: number): boolean {
  return stored.get(request) === status
}
