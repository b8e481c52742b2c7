import type { IMAGE_TYPES } from '@sandyard/dashboard-contract/limits'

export type FileContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly type: (typeof IMAGE_TYPES)[number] }
  | { readonly kind: 'binary' }

/** What the bytes of a file are. Images are known by their first bytes, never by their names; SVG is text. */
export function contentOf(bytes: Uint8Array): FileContent {
  const type = imageType(bytes)
  if (type !== undefined) return { kind: 'image', type }
  if (bytes.subarray(0, 8000).includes(0)) return { kind: 'binary' }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { kind: 'binary' }
  }
}

function imageType(bytes: Uint8Array): (typeof IMAGE_TYPES)[number] | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16))
  if (head.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (head.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp'
  if (head.startsWith('ftypavif', 4) || head.startsWith('ftypavis', 4)) return 'image/avif'
  if (head.startsWith('BM') && bytes.length > 26 && head.slice(6, 10) === '\u0000\u0000\u0000\u0000') return 'image/bmp'
  return undefined
}

/** The separator of lines: the editor must give back the file as it was. Mixed ones stay as they are in their lines. */
export function lineSeparator(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1
  const withReturn = text.split('\r\n').length - 1
  return all > 0 && all === withReturn ? '\r\n' : '\n'
}
