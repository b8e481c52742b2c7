import { readHeaderParts, type HeaderPart } from '@sandyard/db/rows/header-placeholders'
import { Secret } from '@sandyard/kit/config/secret'
import type { EgressContext } from '../context.ts'
import { DialError } from '../dial/dial-error.ts'
import type { RuleHeader } from '../policy/compile-policy.ts'
import { TooManyLookupsError } from '../secrets/secret-values.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import type { WebConnection } from './web-connection.ts'

type Parts = Pick<EgressContext, 'secrets' | 'identityTokens' | 'valueBudget' | 'log'>

/** The headers that a rule sets in one request. Its disposal frees what its values have counted. */
export interface FilledRule extends Disposable {
  readonly headers: readonly RuleHeader[]
}

/** Placeholders are short, and what replaces them may be long and repeated: a request must not need much memory. */
const MAX_HEADER_CHARS = 80 * 1024
const MAX_RULE_CHARS = 256 * 1024

/** Would end the header, or be refused by Node. A tab is allowed. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0A-\x1F\x7F]/

/**
 * Puts secrets and identity tokens in the place of their placeholders (control-plane.md 18.5). Only a request that is encrypted up to the
 * server gets them, and a request never leaves with a placeholder.
 *
 * @throws DialError `missing_secret`; `too_many_values` above the caps of what a sandbox, a team or all have in requests under way
 */
export async function fillRule(
  parts: Parts,
  web: Pick<WebConnection, 'sandbox' | 'scheme'>,
  rule: readonly RuleHeader[] | undefined,
): Promise<FilledRule | undefined> {
  if (rule === undefined) return undefined
  const sandbox = web.sandbox()
  const headers: RuleHeader[] = []
  let left = MAX_RULE_CHARS
  using counting = new DisposableStack()
  const share = counting.use(parts.valueBudget.open(sandbox))
  // One after the other, so that a rule that becomes too long is not filled to its end.
  for (const header of rule) {
    const one = await fillHeader(parts, { sandbox, isEncrypted: web.scheme === 'https', header })
    const chars = one.value.reveal().length
    left -= chars
    if (left < 0) throw new DialError('missing_secret')
    if (one !== header && !share.add(chars)) throw new DialError('too_many_values')
    headers.push(one)
  }
  const counted = counting.move()
  return { headers, [Symbol.dispose]: () => counted.dispose() }
}

interface Filling {
  readonly sandbox: EgressSandbox
  readonly isEncrypted: boolean
  readonly header: RuleHeader
}

async function fillHeader(parts: Parts, { sandbox, isEncrypted, header }: Filling): Promise<RuleHeader> {
  const found = readHeaderParts(header.value.reveal())
  if (found?.every((part) => typeof part === 'string') === true) return header
  if (found === undefined || !isEncrypted) throw new DialError('missing_secret')
  const texts = await Promise.all(found.map((part) => textOf(parts, sandbox, part)))
  if (texts.reduce((sum, text) => sum + text.length, 0) > MAX_HEADER_CHARS) throw new DialError('missing_secret')
  const filled = texts.join('')
  if (CONTROL.test(filled)) throw new DialError('missing_secret')
  return { ...header, value: new Secret(filled) }
}

async function textOf({ secrets, identityTokens, log }: Parts, sandbox: EgressSandbox, part: HeaderPart): Promise<string> {
  if (typeof part === 'string') return part
  const value = await ('secret' in part ? secrets.find(sandbox.teamId, part.secret) : identityTokens.find(sandbox, part.token)).catch(
    (err: unknown) => {
      if (err instanceof TooManyLookupsError) throw new DialError('too_many_values')
      log.warn({ err, sandboxId: sandbox.sandboxId }, 'a value for a header of a network rule cannot be read')
      return undefined
    },
  )
  if (value === undefined) throw new DialError('missing_secret')
  return value.reveal()
}
