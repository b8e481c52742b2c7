/**
 * Adds the standard's base64 methods if the JavaScript engine lacks them. Without them the protobuf library encodes output
 * character by character, which costs more time and memory than the rest of a stream. Must be loaded before that library.
 */
interface EncodeOptions {
  readonly alphabet?: 'base64' | 'base64url'
  readonly omitPadding?: boolean
}

const methods = {
  toBase64(this: Uint8Array, { alphabet = 'base64', omitPadding = false }: EncodeOptions = {}): string {
    const text = Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64')
    const padded = omitPadding ? text.replace(/=+$/, '') : text
    return alphabet === 'base64' ? padded : padded.replaceAll('+', '-').replaceAll('/', '_')
  },

  /** Reads only strict base64; the library falls back to its own decoder for other texts. */
  setFromBase64(this: Uint8Array, text: string): { read: number; written: number } {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new SyntaxError('not plain base64')
    return { read: text.length, written: Buffer.from(this.buffer, this.byteOffset, this.byteLength).write(text, 'base64') }
  },
}

for (const [name, value] of Object.entries(methods)) {
  // oxlint-disable-next-line no-extend-native -- the methods are the standard's
  if (!(name in Uint8Array.prototype)) Object.defineProperty(Uint8Array.prototype, name, { value, configurable: true, writable: true })
}
