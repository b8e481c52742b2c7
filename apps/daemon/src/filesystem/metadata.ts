import { errnoCode } from '../sys/errno-text.ts'
import { getXattr, listXattrs, removeXattr, setXattr, type XattrTarget } from '../sys/xattr.ts'

/** Users' own key-value pairs of a file live in extended attributes, so they travel with it (envd.md 5.7). */
const PREFIX = 'user.e2b.'

/**
 * The metadata of a path, links followed, or of an open file. Empty if there is none, the file system does not support it or it cannot be
 * read. Entries that are not UTF-8 are left out.
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

/** Metadata could not be changed; `cause` is the system error. */
export class MetadataFailure extends Error {
  override readonly name = 'MetadataFailure'
  /** The call as clients are shown it. */
  readonly call: 'xattr.FList' | 'xattr.FRemove' | 'xattr.FSet'
  /** Undefined for a call on all attributes. */
  readonly attribute: string | undefined

  constructor(call: MetadataFailure['call'], attribute: string | undefined, cause: unknown) {
    super(call, { cause })
    this.call = call
    this.attribute = attribute
  }
}

/**
 * Makes `metadata` the whole metadata of an open file; other attributes are kept. Does nothing if the file system does not support attributes.
 *
 * @throws MetadataFailure for the first attribute that could not be changed; earlier ones have been changed
 */
export async function replaceMetadata(fd: number, metadata: ReadonlyMap<string, string>): Promise<void> {
  const wanted = new Map([...metadata].map(([key, value]) => [PREFIX + key, value]))
  const present = (await attempt(metadataAttributes(fd), 'xattr.FList')) ?? []
  for (const name of present) if (!wanted.has(name)) await attempt(removeXattr(fd, name), 'xattr.FRemove', name)
  for (const [name, value] of wanted) await attempt(setXattr(fd, name, Buffer.from(value)), 'xattr.FSet', name)
}

async function attempt<T>(result: Promise<T>, call: MetadataFailure['call'], attribute?: string): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (errnoCode(error) === 'ENOTSUP') return undefined
    throw new MetadataFailure(call, attribute, error)
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
