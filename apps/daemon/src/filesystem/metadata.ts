import { errnoCode } from '../sys/errno-text.ts'
import { getXattr, listXattrs, removeXattr, setXattr, type XattrTarget } from '../sys/xattr.ts'

/** Users' own key-value pairs of a file live in extended attributes, so they travel with it (envd.md 5.7). */
const PREFIX = 'user.e2b.'

/**
 * The metadata of a path, links followed, or of an open file; empty where there is none, where the file system holds none and where
 * it cannot be read. Entries that are not UTF-8 are left out.
 */
export async function readMetadata(target: XattrTarget): Promise<Record<string, string>> {
  const metadata: Record<string, string> = {}
  for (const name of await metadataAttributes(target).catch(() => [])) {
    const key = decode(Buffer.from(name.slice(PREFIX.length), 'latin1'))
    const value = await getXattr(target, name).then(decode, () => undefined)
    // defineProperty, since a key may be `__proto__`.
    if (key !== undefined && value !== undefined) Object.defineProperty(metadata, key, { value, enumerable: true })
  }
  return metadata
}

/**
 * Makes `metadata` the whole metadata of an open file; other attributes stay. Does nothing where the file system holds none.
 *
 * @throws the system error of the first attribute that could not be changed; those before it are
 */
export async function replaceMetadata(fd: number, metadata: ReadonlyMap<string, string>): Promise<void> {
  try {
    const wanted = new Map([...metadata].map(([key, value]) => [PREFIX + key, value]))
    for (const name of await metadataAttributes(fd)) if (!wanted.has(name)) await removeXattr(fd, name)
    for (const [name, value] of wanted) await setXattr(fd, name, Buffer.from(value))
  } catch (error) {
    if (errnoCode(error) !== 'ENOTSUP') throw error
  }
}

async function metadataAttributes(target: XattrTarget): Promise<string[]> {
  return (await listXattrs(target)).filter((name) => name.startsWith(PREFIX))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
