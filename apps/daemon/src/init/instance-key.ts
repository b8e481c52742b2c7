import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { isSameText } from '@sandyard/kit/secrets/same-text'

/** The header of `/init` with the key of the instance. Our own: upstream gets the digest of the next token from its hypervisor. */
export const INSTANCE_KEY_HEADER = 'x-sandyard-instance-key'

/** The SHA-512 in hex as a word of its own, or as the argument `-instance=<digest>` of the first process. */
const DIGEST = /(?:^|[\0\s]-instance=)([0-9a-f]{128})(?![^\0\s])/
const MAX_BYTES = 16_384

/**
 * The digest of the key that `/init` needs, from the file that the platform writes (docs/decisions/011-daemon-identity.md). Undefined without a
 * readable file with a digest; then no key is right. Read at every `/init`: a sandbox that was restored from an image of memory has another file
 * than the one that the image was made of.
 */
export async function readInstanceDigest(path: string): Promise<string | undefined> {
  try {
    // Root in the sandbox may put anything there: a pipe must not block.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, null)
    return DIGEST.exec(buffer.toString('latin1', 0, bytesRead))?.[1]
  } catch {
    return undefined
  }
}

/** Takes a time that is independent of the digest. */
export function isInstanceKey(presented: string, digest: string | undefined): boolean {
  return digest !== undefined && isSameText(secretDigest(presented), digest)
}

/** Loads what the check of a key needs. A sandbox does this while it waits for its network. */
export async function prepareKeyCheck(path: string): Promise<void> {
  isInstanceKey('', await readInstanceDigest(path))
}
