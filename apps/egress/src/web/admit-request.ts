import type { IncomingMessage } from 'node:http'
import { recordDecision } from '../connections/record-decision.ts'
import type { EgressContext } from '../context.ts'
import { parseHost } from '../names/server-name.ts'
import { findRule, type RuleHeader } from '../policy/compile-policy.ts'
import { decide } from '../policy/decide.ts'
import { valuesOf } from './request-headers.ts'
import type { WebConnection } from './web-connection.ts'

/** A request that the policy allows. */
export interface Admitted {
  /** Undefined when it names an address only. */
  readonly name: string | undefined
  readonly rule: readonly RuleHeader[] | undefined
}

/** Decides on a request by its `Host`. Undefined when it is refused: then its connection is closed without an answer. */
export function admitRequest(ctx: EgressContext, web: WebConnection, req: IncomingMessage): Admitted | undefined {
  const { policy } = web.sandbox()
  const { address, port } = web.destination
  const name = nameOf(web, req)
  if (name === false) {
    recordDecision(ctx, web, { verdict: 'deny', rule: 'malformed' })
    return undefined
  }
  const decision = decide(policy, ctx.closed, { address, port, name })
  recordDecision(ctx, web, { ...decision, name })
  if (decision.verdict === 'deny') return undefined
  web.current = { name }
  return { name, rule: findRule(policy, name) }
}

/** The name that a request asks for; undefined for an address; false when the request is not clear about it. */
function nameOf({ scheme, tlsName, destination }: WebConnection, { rawHeaders, url = '' }: IncomingMessage): string | undefined | false {
  // The absolute form of a target stands over `Host`, so a server might serve another name than was checked.
  if (!url.startsWith('/') && url !== '*') return false
  const hosts = valuesOf(rawHeaders, 'host')
  const [host = ''] = hosts
  if (hosts.length > 1) return false
  const parsed = parseHost(host)
  if (parsed?.port !== undefined && parsed.port !== destination.port) return false
  // What was encrypted for one server does not go to another.
  return scheme === 'https' && parsed?.name !== tlsName ? false : parsed?.name
}
