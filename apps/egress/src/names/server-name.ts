import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)

/** A DNS name in lower case without the final dot; undefined when the text is no name, such as an address. */
export function toServerName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '')
  if (!NAME.test(name) || isIP(name) !== 0) return undefined
  // Programs read names that end with a number as addresses.
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name) ? undefined : name
}

/** The name and port of a `Host` header. Undefined when it names no server. */
export function parseHost(host: string): { readonly name: string; readonly port: number | undefined } | undefined {
  const { text = '', port } = /^(?<text>[^:@/?#[\]\s]+)(?::(?<port>\d{1,5}))?$/.exec(host)?.groups ?? {}
  const name = toServerName(text)
  return name === undefined ? undefined : { name, port: port === undefined ? undefined : Number(port) }
}

/** The entry of a policy in the form of names on the wire: lower case, without the final dot, in ASCII. */
export function toPattern(entry: string): string {
  const [, star = '', domain = ''] = /^(\*\.)?(.*)$/s.exec(entry.toLowerCase()) ?? []
  const ascii = /^[\0-\x7f]*$/.test(domain) ? domain : domainToASCII(domain)
  return `${star}${ascii.replace(/\.$/, '')}`
}
