import { isIP, isIPv4 } from 'node:net'
import { SettingProblem } from '../config/parse-config.ts'
import { Secret } from '../config/secret.ts'

/** The HTTP proxy of a network, through which programs reach the rest of the world. */
export interface HttpProxy {
  /** With user name, password and port; no slash at the end. */
  readonly url: Secret
  /** A name or an IPv4 address. */
  readonly host: string
  readonly port: number
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
const FORM = 'must be the URL of a proxy, http://[user:password@]host:port'

/**
 * Reads the URL of a proxy. The port is always part of the result, because the defaults of programs differ.
 *
 * @throws SettingProblem, which never quotes the URL
 */
export function readHttpProxy(text: string): HttpProxy {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? '']
  if (url === undefined || defaultPort === undefined || !['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new SettingProblem(FORM)
  }
  const { protocol, username, password, hostname: host } = url
  if (host.startsWith('[')) throw new SettingProblem('must be a proxy with an IPv4 address or a name: sandboxes have no IPv6')
  const isOwnHost = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && /^(?:0|127)\./.test(host))
  if (isOwnHost) throw new SettingProblem('must be a proxy at an address that sandboxes reach too: a loopback address is their own')
  if (!isIPv4(host) && host.length > 253) throw new SettingProblem(FORM)
  const port = url.port === '' ? defaultPort : Number(url.port)
  const credentials = username === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`
  return { url: new Secret(`${protocol}//${credentials}${host}:${port}`), host, port }
}

/** The URL for a program that must know where the proxy is and does not use it. */
export function withoutCredentials({ url }: HttpProxy): string {
  const { protocol, host } = new URL(url.reveal())
  return `${protocol}//${host}`
}
