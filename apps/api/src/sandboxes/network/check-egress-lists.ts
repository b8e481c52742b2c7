import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isStorable } from '../../text/is-storable.ts'
import { shorten } from '../../text/shorten.ts'
import { isAddressOrNetwork } from '@sandyard/kit/net/addresses'
import { isDomain, isIpv4, isUnspecified } from './addresses.ts'

/** What clients name `ALL_TRAFFIC`. */
const ALL_TRAFFIC = '0.0.0.0/0'
const MAX_DNS_SERVERS = 10
/** A name of DNS with a wildcard. Nothing longer can match a name. */
const MAX_ENTRY_LENGTH = 255

/**
 * Checks `denyOut`, `allowOut` and `dnsServers`. What is no address or network in `allowOut` is a domain.
 *
 * @throws AppError `invalid_argument` with the texts of control-plane.md 18.3; those of `dnsServers` are ours
 */
export function checkEgressLists({ allowOut = [], denyOut = [], dnsServers = [] }: SandboxNetworkUpdate): void {
  const denied = denyOut.find((entry) => !isAddressOrNetwork(entry) || isUnspecified(entry))
  if (denied !== undefined) throw refused(`invalid denied CIDR ${shorten(denied)}`)
  const allowed = allowOut.find(isInvalidEntry)
  if (allowed !== undefined) throw refused(`invalid allowed address ${shorten(allowed)}`)
  if (allowOut.some(isDomain) && !denyOut.includes(ALL_TRAFFIC)) {
    throw refused("When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.")
  }
  if (dnsServers.length > MAX_DNS_SERVERS)
    throw refused(`validation error: dnsServers must not have more than ${MAX_DNS_SERVERS} addresses`)
  const server = dnsServers.find((entry) => !isIpv4(entry))
  if (server !== undefined) throw refused(`validation error: dnsServers must be IPv4 addresses, not '${shorten(server)}'`)
}

function isInvalidEntry(entry: string): boolean {
  return entry === '' || entry.length > MAX_ENTRY_LENGTH || isUnspecified(entry) || !isStorable(entry)
}

function refused(message: string): AppError {
  return new AppError('invalid_argument', message)
}
