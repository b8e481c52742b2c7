export interface ServerFlags {
  readonly host: string
  readonly port: number
  /** The directory that becomes the root: the volume. */
  readonly root: string
  /** The digest of the key that every request needs (`secretDigest`). */
  readonly instance: string
  /** The service ends itself after this time without requests. */
  readonly idleMs: number
}

const DEFAULTS = { host: '0.0.0.0', port: '49983', root: '/volume', 'idle-ms': '120000', instance: '' }

/** Reads `-name=value`. @throws Error for an unknown flag, a bad number or a missing digest */
export function parseServerFlags(args: readonly string[]): ServerFlags {
  const values: Record<string, string> = { ...DEFAULTS }
  for (const argument of args) {
    const [, name = '', value = ''] = /^-([a-z-]+)=(.*)$/.exec(argument) ?? []
    if (values[name] === undefined) throw new Error(`unknown flag: ${argument}`)
    values[name] = value
  }
  const { host = '', root = '', instance = '' } = values
  const [port, idleMs] = [Number(values['port']), Number(values['idle-ms'])]
  if (!/^[0-9a-f]{128}$/.test(instance)) throw new Error('-instance must be a digest')
  if (!(port >= 0 && port <= 65_535 && idleMs > 0)) throw new Error('-port and -idle-ms must be numbers')
  return { host, port, root, instance, idleMs }
}
