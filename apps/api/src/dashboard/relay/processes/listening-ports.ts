/** A TCP socket of a sandbox that listens. */
export interface ListeningSocket {
  readonly address: string
  readonly port: number
}

const LISTENING = /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]+ 0A /gim

/** Those of `/proc/net/tcp` or `tcp6`. */
export function parseListening(text: string): ListeningSocket[] {
  return [...text.matchAll(LISTENING)].map(([, address = '', port = '']) => ({
    address: toAddress(address),
    port: Number.parseInt(port, 16),
  }))
}

/** Words of 32 bits in the byte order of the host, which is little-endian. */
function toAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].toReversed())
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.every((byte) => byte === 0)) return '::'
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  if (isMapped) return bytes.slice(12).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16))
  // The longest run of zeros is shortened by the parser of addresses of Node.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
