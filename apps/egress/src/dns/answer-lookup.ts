import type { EgressContext } from '../context.ts'
import type { LookupOutcome } from '../metrics.ts'
import { findSoon } from '../sandboxes/find-soon.ts'
import type { Policy } from '../policy/compile-policy.ts'
import { encodeAnswer, questionOf } from './answer.ts'
import { askResolvers } from './ask-resolver.ts'
import { emptyAnswer, parseQuery, RESPONSE_CODE } from './query.ts'

/** Records that tell of encrypted server names and of QUIC (RFC 9460), which the gateway could not read: names have none here. */
const UNSERVED_TYPES = new Set(['HTTPS', 'SVCB', 'UNKNOWN_64', 'UNKNOWN_65'])

/** Lookups of one sandbox that wait for a resolver. */
const MAX_PENDING = 64
const MAX_TCP_BYTES = 65_535

export interface Lookup {
  readonly bytes: Buffer
  readonly source: string
  /** Over UDP answers have a size. */
  readonly isUdp: boolean
}

/**
 * Answers a lookup: a name that the policy allows is forwarded to the resolvers of the sandbox, any other is `REFUSED` and leaves nowhere
 * (control-plane.md 18.4). Undefined: no answer is sent. Never rejects.
 */
export async function answerLookup(ctx: EgressContext, { bytes, source, isUdp }: Lookup): Promise<Buffer | undefined> {
  const count = (outcome: LookupOutcome): void => ctx.metrics.countLookup(outcome)
  if (!ctx.lookupRate.take(source)) {
    count('limit')
    return undefined
  }
  const parsed = parseQuery(bytes)
  if (parsed.kind === 'ignored') {
    count('malformed')
    return undefined
  }
  if (parsed.kind === 'refused') {
    count('malformed')
    return emptyAnswer(parsed.id, parsed.code)
  }
  const { query } = parsed
  const questions = [questionOf(query)]
  using pending = ctx.pendingLookups.take(source, MAX_PENDING)
  if (pending === undefined) {
    count('limit')
    return emptyAnswer(query.id, RESPONSE_CODE.serverFailure, questions)
  }
  const sandbox = await findSoon(ctx.sandboxes, source).catch(() => undefined)
  if (sandbox === undefined) {
    count('unknown_source')
    return emptyAnswer(query.id, RESPONSE_CODE.refused, questions)
  }
  if (!isLookupAllowed(sandbox.policy, query.name)) {
    count('refused')
    return emptyAnswer(query.id, RESPONSE_CODE.refused, questions)
  }
  if (UNSERVED_TYPES.has(query.type)) {
    count('empty')
    return emptyAnswer(query.id, RESPONSE_CODE.ok, questions)
  }
  const answer = await askResolvers(query, {
    resolvers: ctx.resolversOf(sandbox.policy.dnsServers),
    isClosed: (address) => ctx.closed.isClosed(address),
  })
  count(answer === undefined ? 'failed' : 'forwarded')
  if (answer === undefined) return emptyAnswer(query.id, RESPONSE_CODE.serverFailure, questions)
  try {
    return encodeAnswer(answer, isUdp ? query.maxAnswerBytes : MAX_TCP_BYTES)
  } catch {
    // A record that the library reads but does not write.
    return emptyAnswer(query.id, RESPONSE_CODE.serverFailure, questions)
  }
}

/** Without domains only the resolvers are the sandbox's choice, not the names. */
function isLookupAllowed({ domains }: Policy, name: string): boolean {
  return domains.isEmpty || domains.find(name) !== undefined
}
