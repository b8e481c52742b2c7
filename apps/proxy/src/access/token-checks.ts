import { sandboxAccessToken, sandboxTrafficToken } from '@sandyard/db/sandbox-token'
import { isSameText } from '@sandyard/kit/secrets/same-text'
import { ProxyError } from '../answers/proxy-error.ts'
import type { Visit } from '../forward/find-exchange.ts'
import { ACCESS_TOKEN, TRAFFIC_TOKEN } from '../message/token-headers.ts'
import type { Route } from '../routes/route.ts'
import type { TokenSeed } from '../routes/token-seed.ts'
import type { RequestHead } from '../message/downstream-message.ts'

/** Checks the tokens that a request presents. The daemon itself checks its token while the sandbox runs. */
export class TokenChecks {
  readonly #seed: TokenSeed

  constructor(seed: TokenSeed) {
    this.#seed = seed
  }

  /**
   * The check of control-plane.md 18.2.
   *
   * @throws ProxyError `traffic_token`; any error of the seed
   */
  async checkTraffic(visit: Visit, route: Route): Promise<void> {
    if (!needsTrafficToken(visit, route)) return
    const { req, sandboxId } = visit
    const presented = header(req, TRAFFIC_TOKEN)
    if (presented === undefined) throw new ProxyError({ kind: 'traffic_token', fault: 'missing', sandboxId })
    if (isSameText(presented, sandboxTrafficToken(await this.#seed.read(), sandboxId))) return
    throw new ProxyError({ kind: 'traffic_token', fault: 'invalid', sandboxId })
  }

  /**
   * Whether a request may resume its sandbox (control-plane.md 19.6): it has the token of a port that is not public, or of a secured
   * daemon. The signature of a file URL is no such token.
   *
   * @throws any error of the seed
   */
  async mayResume({ req, sandboxId, isDaemon }: Visit, route: Route): Promise<boolean> {
    if (isDaemon ? !route.isSecure : route.isPublic) return true
    const presented = header(req, isDaemon ? ACCESS_TOKEN : TRAFFIC_TOKEN)
    if (presented === undefined) return false
    const seed = await this.#seed.read()
    return isSameText(presented, isDaemon ? sandboxAccessToken(seed, sandboxId) : sandboxTrafficToken(seed, sandboxId))
  }
}

/** Ports that are not public, except that of the daemon (control-plane.md 18.2). */
export function needsTrafficToken({ isDaemon }: Visit, { isPublic }: Route): boolean {
  return !isDaemon && !isPublic
}

function header({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name]?.toString()
  return value === '' ? undefined : value
}
