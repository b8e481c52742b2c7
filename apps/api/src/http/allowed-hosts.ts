import ipaddr from 'ipaddr.js'

export interface AllowedHostsOptions {
  /** The domain of sandboxes, perhaps with a port. */
  readonly domain: string
  readonly apiUrl: string | undefined
  /** Further names; `*.example.com` means all below it, and `*` means every name. */
  readonly names: readonly string[]
}

/**
 * Under which names clients may address this server. Someone else's domain may be made to lead here, and a browser then takes this server for
 * a part of that domain's pages (DNS rebinding). Addresses, `localhost` and names without a dot cannot be used for that.
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
