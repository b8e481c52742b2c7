export interface TarEntry {
  readonly type?: string
  readonly size?: number
  readonly link?: string
}

/** The end of an archive. */
export const TAR_END = Buffer.alloc(1024)

/** A header in the `ustar` format with a valid checksum. */
export function tarEntry(name: string, { type = '0', size = 0, link = '' }: TarEntry = {}): Buffer {
  const header = Buffer.alloc(512)
  const octal = (value: number, at: number, width: number): void => void header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at)
  header.write(name, 0)
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\x0000', 257)
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return header
}
