import { closeSync, constants, openSync, readSync } from 'node:fs'
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
export function readInstanceDigest(path: string): string | undefined {
  let file: number | undefined
  try {
    // Root in the sandbox may put anything there: a pipe must not block. A small file is read faster than a thread of the pool wakes.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const buffer = Buffer.alloc(MAX_BYTES)
    return DIGEST.exec(buffer.toString('latin1', 0, readSync(file, buffer, 0, MAX_BYTES, null)))?.[1]
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Takes a time that is independent of the digest. */
export function isInstanceKey(presented: string, digest: string | undefined): boolean {
  return digest !== undefined && isSameText(secretDigest(presented), digest)
}

/** Loads what the check of a key needs. A sandbox does this while it waits for its network. */
export function prepareKeyCheck(path: string): void {
  isInstanceKey('', readInstanceDigest(path))
}
