/** The codings that a download can have. */
export type ContentCoding = 'identity' | 'gzip' | 'zstd'

interface Choice {
  readonly name: string
  readonly quality: number
}

/**
 * Chooses the coding for a value of `Accept-Encoding` (envd.md 5.6); undefined if no coding is acceptable. zstd is preferred to a gzip
 * of the same quality: it is several times faster. Unlike in RFC 9110, `*` means identity unless identity is refused.
 */
export function chooseCoding(header: string): ContentCoding | undefined {
  const choices = parseChoices(header)
  const wanted = choices.filter((choice) => choice.quality !== 0).sort((a, b) => b.quality - a.quality)
  for (const { name, quality } of wanted) {
    if (name === 'identity' || name === 'zstd') return name
    if (name === 'gzip') return wanted.some((other) => other.name === 'zstd' && other.quality === quality) ? 'zstd' : 'gzip'
    if (name === '*') return acceptsIdentity(header) ? 'identity' : 'gzip'
  }
  return acceptsIdentity(header) ? 'identity' : undefined
}

/** Whether the bytes may be sent as they are. */
export function acceptsIdentity(header: string): boolean {
  const choices = parseChoices(header)
  const decisive = choices.find((choice) => choice.name === 'identity') ?? choices.find((choice) => choice.name === '*')
  return decisive === undefined || decisive.quality !== 0
}

/**
 * Whether the client requires the chosen coding for any content: it names no other one, as the SDKs do with their option `gzip`
 * (clients.md 2.8), or it refuses identity. The defaults of HTTP libraries are lists of what they can decode.
 */
export function demandsCoding(header: string): boolean {
  return !acceptsIdentity(header) || parseChoices(header).length === 1
}

function parseChoices(header: string): Choice[] {
  return header.split(',').flatMap((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    if (name === '') return []
    // RFC 9110 12.4.2 allows no space inside a weight: `q= 0` is not one.
    const quality = parameters.findLast((parameter) => parameter.startsWith('q='))
    return [{ name, quality: quality === undefined ? 1 : toQuality(quality.slice('q='.length)) }]
  })
}

/** What is not a number counts as 1. */
function toQuality(text: string): number {
  return /^\d+(?:\.\d*)?$|^\.\d+$/.test(text) ? Number(text) : 1
}
