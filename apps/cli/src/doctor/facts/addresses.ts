/** The host without its port: `sandboxes.example:8443` is `sandboxes.example`. */
export function hostnameOf(authority: string): string {
  return authority.replace(/:\d+$/, '')
}

export function isHttps(url: string | undefined): boolean {
  return url !== undefined && url.startsWith('https:')
}

export function isLoopbackAddress(address: string): boolean {
  return address === 'localhost' || address === '::1' || address.startsWith('127.')
}

/** An IPv4 network as numbers. */
export interface Network {
  readonly base: number
  readonly prefix: number
}

/** Undefined for anything but an IPv4 network. */
export function parseNetwork(text: string): Network | undefined {
  const [, a, b, c, d, prefix] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(text) ?? []
  if (prefix === undefined) return undefined
  const base = [a, b, c, d].reduce((sum, part) => sum * 256 + Number(part), 0)
  return { base, prefix: Number(prefix) }
}

export function overlaps(left: Network, right: Network): boolean {
  const size = 2 ** (32 - Math.min(left.prefix, right.prefix))
  return Math.floor(left.base / size) === Math.floor(right.base / size)
}
