/** The codings that a download can have. */
export type ContentCoding = 'identity' | 'gzip'

interface Choice {
  readonly name: string
  readonly quality: number
}

/**
 * Chooses the coding for a value of `Accept-Encoding` (envd.md 5.6); undefined where nothing is acceptable. Unlike in RFC 9110, `*`
 * is not a reason to compress: it means identity unless identity is refused.
 */
export function chooseCoding(header: string): ContentCoding | undefined {
  const choices = parseChoices(header)
  const identityOk = acceptsIdentity(header)
  const wanted = choices.filter((choice) => choice.quality !== 0).sort((a, b) => b.quality - a.quality)
  for (const { name } of wanted) {
    if (name === 'identity' || name === 'gzip') return name
    if (name === '*') return identityOk ? 'identity' : 'gzip'
  }
  return identityOk ? 'identity' : undefined
}

/** Whether the bytes may be sent as they are. */
export function acceptsIdentity(header: string): boolean {
  const choices = parseChoices(header)
  const decisive = choices.find((choice) => choice.name === 'identity') ?? choices.find((choice) => choice.name === '*')
  return decisive === undefined || decisive.quality !== 0
}

function parseChoices(header: string): Choice[] {
  return header.split(',').flatMap((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    if (name === '') return []
    // No space belongs into a weight (RFC 9110 12.4.2): with one it is none.
    const quality = parameters.findLast((parameter) => parameter.startsWith('q='))
    return [{ name, quality: quality === undefined ? 1 : toQuality(quality.slice('q='.length)) }]
  })
}

/** What is not a number counts as 1. */
function toQuality(text: string): number {
  return /^\d+(?:\.\d*)?$|^\.\d+$/.test(text) ? Number(text) : 1
}
