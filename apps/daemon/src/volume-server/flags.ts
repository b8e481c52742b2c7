export interface ServerFlags {
  readonly host: string
  readonly port: number
  /** The directory that becomes the root: the volume. */
  readonly root: string
  /** The digest of the key that every request needs (`secretDigest`). */
  readonly instance: string
  /** The service ends itself after this time without requests. */
  readonly idleMs: number
  /** Above 0: the program serves nothing. It prints the bytes of the volume, within this time, and ends. */
  readonly measureMs: number
  /** Not empty: the program only removes this entry of the root. */
  readonly remove: string
}

const DEFAULTS = { host: '0.0.0.0', port: '49983', root: '/volume', 'idle-ms': '120000', 'measure-ms': '0', remove: '', instance: '' }

/** Reads `-name=value`. @throws Error for an unknown flag, a bad number or a missing digest */
export function parseServerFlags(args: readonly string[]): ServerFlags {
  const values: Record<string, string> = { ...DEFAULTS }
  for (const argument of args) {
    const [, name = '', value = ''] = /^-([a-z-]+)=(.*)$/.exec(argument) ?? []
    if (values[name] === undefined) throw new Error(`unknown flag: ${argument}`)
    values[name] = value
  }
  const { host = '', root = '', instance = '', remove = '' } = values
  const [port, idleMs, measureMs] = [Number(values['port']), Number(values['idle-ms']), Number(values['measure-ms'])]
  if (remove !== '' && !/^[a-z0-9-]+$/.test(remove)) throw new Error('-remove must be the name of an entry')
  if (measureMs === 0 && remove === '' && !/^[0-9a-f]{128}$/.test(instance)) throw new Error('-instance must be a digest')
  if (!(port >= 0 && port <= 65_535 && idleMs > 0 && measureMs >= 0)) throw new Error('-port, -idle-ms and -measure-ms must be numbers')
  return { host, port, root, instance, idleMs, measureMs, remove }
}
