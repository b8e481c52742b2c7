import type { Outbound } from '@sandyard/kit/outbound/outbound'

/** Where the daemon adds authorities. */
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

/**
 * The variables for programs that do not read the trust store by themselves: Node has a list of its own, Python's requests brings one, and OpenSSL
 * looks for single files by the hash of their subject, which only a tool of the image makes. curl, git, apt, wget and pip of Debian need none.
 */
export function trustVariables({ extraCa }: Pick<Outbound, 'extraCa'>): Readonly<Record<string, string>> {
  return extraCa.length === 0 ? {} : { NODE_EXTRA_CA_CERTS: BUNDLE, REQUESTS_CA_BUNDLE: BUNDLE, SSL_CERT_FILE: BUNDLE }
}
