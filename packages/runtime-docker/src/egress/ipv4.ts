import { AppError } from '@sandyard/kit/errors/app-error'
import ipaddr from 'ipaddr.js'

/** `"10.1.2.3/8"` to `"10.0.0.0/8"`, `"10.1.2.3"` to `"10.1.2.3/32"`. Undefined when the text is not an IPv4 network or address. */
export function parseCidr(text: string): string | undefined {
  const cidr = text.includes('/') ? text : `${text}/32`
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return undefined
  const [, bits] = ipaddr.IPv4.parseCIDR(cidr)
  return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${bits}`
}

/** Sorted and without duplicates, so that equal lists are equal texts. @throws AppError `invalid_argument` that names an invalid entry */
export function cidrsOf(entries: readonly string[]): string[] {
  const parsed = entries.map((entry) => {
    const cidr = parseCidr(entry)
    if (cidr === undefined) throw new AppError('invalid_argument', `"${entry}" is not an IPv4 address or network.`)
    return cidr
  })
  return [...new Set(parsed)].sort()
}

/** Leaves out the networks that another one contains. They must be as `cidrsOf` returns them. */
export function withoutNested(cidrs: readonly string[]): string[] {
  const ranges = cidrs.map((cidr) => {
    const [address = '', bits] = cidr.split('/')
    const start = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    return { cidr, start, end: start + 2 ** (32 - Number(bits)) }
  })
  let covered = 0
  return ranges
    .toSorted((one, other) => one.start - other.start || other.end - one.end)
    .flatMap(({ cidr, end }) => {
      if (end <= covered) return []
      covered = end
      return [cidr]
    })
}
