import type { SandboxNetworkConfig } from '@sandyard/api-contract/sandboxes/network'
import { AppError } from '@sandyard/kit/errors/app-error'
import { checkEgressLists } from './check-egress-lists.ts'
import { checkEgressProxy } from './check-egress-proxy.ts'
import { checkMaskRequestHost } from './check-mask-request-host.ts'
import { checkRules } from './check-rules.ts'

/** The port of the daemon, which never speaks TLS. */
const DAEMON_PORT = 49_983

/**
 * Checks the `network` of a create request.
 *
 * @param envdVersion - that of the build; undefined when unknown
 * @throws AppError `invalid_argument` with the texts of control-plane.md 18.3, 18.5 and 18.6
 */
export function checkNetwork(network: SandboxNetworkConfig, envdVersion: string | undefined): void {
  checkEgressLists(network)
  if (network.maskRequestHost !== undefined) checkMaskRequestHost(network.maskRequestHost)
  checkRules(network.rules, envdVersion)
  if (network.httpsPorts?.includes(DAEMON_PORT) === true) {
    throw new AppError('invalid_argument', `validation error: httpsPorts must not contain ${DAEMON_PORT}`)
  }
  checkEgressProxy(network.egressProxy)
}
