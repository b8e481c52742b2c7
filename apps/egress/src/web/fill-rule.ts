import { readHeaderParts, type HeaderPart } from '@sandyard/db/rows/header-placeholders'
import { Secret } from '@sandyard/kit/config/secret'
import type { EgressContext } from '../context.ts'
import { DialError } from '../dial/dial-error.ts'
import type { RuleHeader } from '../policy/compile-policy.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import type { WebConnection } from './web-connection.ts'

type Parts = Pick<EgressContext, 'secrets' | 'identityTokens' | 'log'>

/** Would end the header, or be refused by Node. A tab is allowed. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0A-\x1F\x7F]/

/**
 * Puts secrets and identity tokens in the place of their placeholders (control-plane.md 18.5). Only a request that is encrypted up to the
 * server gets them, and a request never leaves with a placeholder.
 *
 * @throws DialError `missing_secret`
 */
export async function fillRule(
  parts: Parts,
  web: Pick<WebConnection, 'sandbox' | 'scheme'>,
  rule: readonly RuleHeader[] | undefined,
): Promise<readonly RuleHeader[] | undefined> {
  if (rule === undefined) return undefined
  const sandbox = web.sandbox()
  return Promise.all(rule.map((header) => fillHeader(parts, { sandbox, isEncrypted: web.scheme === 'https', header })))
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
  const filled = texts.join('')
  if (CONTROL.test(filled)) throw new DialError('missing_secret')
  return { ...header, value: new Secret(filled) }
}

async function textOf({ secrets, identityTokens, log }: Parts, sandbox: EgressSandbox, part: HeaderPart): Promise<string> {
  if (typeof part === 'string') return part
  const value = await ('secret' in part ? secrets.find(sandbox.teamId, part.secret) : identityTokens.find(sandbox, part.token)).catch(
    (err: unknown) => {
      log.warn({ err, sandboxId: sandbox.sandboxId }, 'a value for a header of a network rule cannot be read')
      return undefined
    },
  )
  if (value === undefined) throw new DialError('missing_secret')
  return value.reveal()
}
