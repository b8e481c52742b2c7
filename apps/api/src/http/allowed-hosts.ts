import ipaddr from 'ipaddr.js'

export interface AllowedHostsOptions {
  /** The domain of sandboxes, with or without a port. */
  readonly domain: string
  readonly apiUrl: string | undefined
  /** Further names; `*.example.com` allows every name below it, and `*` allows every name. */
  readonly names: readonly string[]
}

/**
 * The host names that clients may use for this server. An attacker can let their own domain resolve to this server, and a browser then
 * treats the server as the origin of the attacker's page (DNS rebinding). IP addresses, `localhost` and names without a dot cannot be used
 * for this attack.
 */
export class AllowedHosts {
  readonly #exact: ReadonlySet<string>
  readonly #suffixes: readonly string[]
  readonly #isOpen: boolean

  constructor({ domain, apiUrl, names }: AllowedHostsOptions) {
    const lower = names.map((name) => name.toLowerCase())
    const base = hostnameOf(`http://${domain}`)
    this.#isOpen = lower.includes('*')
    this.#exact = new Set([base, ...(apiUrl === undefined ? [] : [hostnameOf(apiUrl)]), ...lower])
    this.#suffixes = ['.localhost', `.${base}`, ...lower.filter((name) => name.startsWith('*.')).map((name) => name.slice(1))]
  }

  /** @param hostname - of a Host header, without the port */
  has(hostname: string): boolean {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    if (this.#isOpen || !name.includes('.') || ipaddr.isValid(name.replace(/^\[|\]$/g, ''))) return true
    return this.#exact.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix))
  }
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
