import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Secret } from '../config/secret.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A value that is encrypted, and which key opens it. */
export interface Sealed {
  readonly keyId: string
  readonly sealed: Buffer
}

/** No key of the ring opens a value: it was sealed with another one, or for another place, or was changed. */
export class UnopenedError extends Error {
  override readonly name = 'UnopenedError'
}

/**
 * The operator's keys for values that the database must not reveal by itself. The first one seals; the others, which it has replaced, still
 * open. A value is bound to its place by `place`: a copy of the row into another one does not open.
 */
export class KeyRing {
  /** The id of the key that seals. */
  readonly keyId: string
  readonly #keys = new Map<string, Buffer>()

  /** @param keys the newest first; each of 32 bytes in hex or base64 @throws TypeError for another key, which it does not quote */
  constructor(keys: readonly [Secret, ...Secret[]]) {
    const read = keys.map((key) => readKey(key))
    for (const key of read) this.#keys.set(idOf(key), key)
    this.keyId = [...this.#keys.keys()][0] as string
  }

  get keyIds(): readonly string[] {
    return [...this.#keys.keys()]
  }

  seal(place: string, plain: string): Sealed {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#keys.get(this.keyId) as Buffer, nonce).setAAD(Buffer.from(place))
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return { keyId: this.keyId, sealed: Buffer.concat([nonce, sealed, cipher.getAuthTag()]) }
  }

  /** @throws UnopenedError */
  open(place: string, { keyId, sealed }: Sealed): string {
    const key = this.#keys.get(keyId)
    if (key === undefined) throw new UnopenedError(`the key ${keyId} is not in the key ring`)
    try {
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(place))
        .setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new UnopenedError('the value was sealed for another place, or it was changed', { cause })
    }
  }
}

/** @throws TypeError */
function readKey(secret: Secret): Buffer {
  const text = secret.reveal().trim()
  const key = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  if (key.length !== KEY_BYTES) throw new TypeError(`a key has ${KEY_BYTES} bytes, in hex or base64`)
  return key
}

/** Does not reveal the key. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('sandyard key id').update(key).digest('hex').slice(0, 16)
}
