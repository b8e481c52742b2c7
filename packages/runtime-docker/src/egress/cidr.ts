import { isIPv4 } from 'node:net'

/** `"10.1.2.3/8"` to `"10.0.0.0/8"`, `"10.1.2.3"` to `"10.1.2.3/32"`. Undefined when the text is not an IPv4 network or address. */
export function parseCidr(text: string): string | undefined {
  const [address = '', prefix = '32', ...rest] = text.split('/')
  if (rest.length > 0 || !isIPv4(address) || !/^\d{1,2}$/.test(prefix) || Number(prefix) > 32) return undefined
  const bits = Number(prefix)
  const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0
  return `${fromNumber((toNumber(address) & mask) >>> 0)}/${bits}`
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0)
}

function fromNumber(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.')
}
