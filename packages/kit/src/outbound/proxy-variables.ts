import type { Outbound } from './outbound.ts'

type Variables = Readonly<Record<string, string>>

/** A program in a sandbox reaches itself. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/**
 * The variables that tell programs of the proxy, in both spellings: curl reads `http_proxy` only, others the other one. They have the
 * password. Empty without a proxy.
 */
export function proxyVariables({ httpProxy, noProxy }: Pick<Outbound, 'httpProxy' | 'noProxy'>): Variables {
  if (httpProxy === undefined) return {}
  const url = httpProxy.url.reveal()
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: [...new Set([...LOOPBACK, ...noProxy])].join(',') }
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { ...variables, ...Object.fromEntries(lower) }
}

/** `own` with the defaults that it does not replace: a variable replaces a default in both spellings. */
export function withDefaults(own: Variables, defaults: Variables): Variables {
  const names = new Set(Object.keys(own).map((name) => name.toUpperCase()))
  const kept = Object.entries(defaults).filter(([name]) => !names.has(name.toUpperCase()))
  return { ...Object.fromEntries(kept), ...own }
}
