import type { Outbound } from '@sandyard/kit/outbound/outbound'

/** Where the daemon adds authorities. */
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

/**
 * The variables for programs that do not read the trust store of the system: Node has a list of its own; Python's requests brings one; Python of
 * uv or conda has an OpenSSL that looks elsewhere, and uv itself reads none. curl, wget, git, apt, Debian's Python and its pip need no variable.
 */
export function trustVariables({ extraCa }: Pick<Outbound, 'extraCa'>): Readonly<Record<string, string>> {
  return extraCa.length === 0 ? {} : { NODE_EXTRA_CA_CERTS: BUNDLE, REQUESTS_CA_BUNDLE: BUNDLE, SSL_CERT_FILE: BUNDLE }
}
