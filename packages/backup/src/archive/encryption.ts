import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Secret } from '@sandyard/kit/config/secret'
import { ByteReader } from './byte-reader.ts'

/**
 * An encrypted archive: the line `MAGIC`, 16 bytes of salt, then chunks. A chunk is the length of its text (4 bytes, big endian; the highest
 * bit marks the last one), the text in AES-256-GCM and the tag of 16 bytes. The key is derived from the passphrase and the salt by scrypt,
 * so a key encrypts one archive only, and the nonce is the number of the chunk. The length is authenticated with the chunk: chunks
 * cannot be changed, moved or left out, also not at the end.
 */
export const MAGIC = 'sandyard-encrypted-backup:1\n'

const SALT_BYTES = 16
const TAG_BYTES = 16
const NONCE_BYTES = 12
const CHUNK_BYTES = 256 * 1024
const LAST = 0x8000_0000
/** 128 MiB of memory, about half a second. */
const COST: ScryptOptions = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 ** 2 }

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt)

function deriveKey(passphrase: Secret, salt: Uint8Array): Promise<Buffer> {
  return derive(passphrase.reveal(), salt, 32, COST)
}

export async function* encrypt(source: AsyncIterable<Uint8Array>, passphrase: Secret): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const key = await deriveKey(passphrase, salt)
  yield Buffer.concat([Buffer.from(MAGIC), salt])
  const reader = new ByteReader(source)
  for (let number = 0; ; number += 1) {
    const text = await reader.upTo(CHUNK_BYTES)
    const isLast = await reader.isAtEnd()
    const length = Buffer.alloc(4)
    length.writeUInt32BE(text.length + (isLast ? LAST : 0))
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number)).setAAD(length)
    yield Buffer.concat([length, cipher.update(text), cipher.final(), cipher.getAuthTag()])
    if (isLast) return
  }
}

/** @throws AppError `invalid_argument` for a wrong passphrase, and for an archive that was changed or cut off */
export async function* decrypt(source: AsyncIterable<Uint8Array>, passphrase: Secret): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source)
  await reader.exactly(MAGIC.length)
  const salt = await reader.exactly(SALT_BYTES)
  const key = await deriveKey(passphrase, salt)
  for (let number = 0; ; number += 1) {
    const length = await reader.exactly(4)
    const word = length.readUInt32BE()
    const isLast = word >= LAST
    const size = isLast ? word - LAST : word
    if (size > CHUNK_BYTES) throw wrong(number)
    const text = await reader.exactly(size)
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number))
    decipher.setAAD(length).setAuthTag(await reader.exactly(TAG_BYTES))
    yield open(() => Buffer.concat([decipher.update(text), decipher.final()]), number)
    if (!isLast) continue
    if (!(await reader.isAtEnd())) throw new AppError('invalid_argument', 'The backup is damaged: there are bytes after its end.')
    return
  }
}

function open(read: () => Buffer, number: number): Buffer {
  try {
    return read()
  } catch (cause) {
    throw wrong(number, cause)
  }
}

function wrong(number: number, cause?: unknown): AppError {
  const sentence = number === 0 ? 'The passphrase is wrong, or the backup is damaged.' : 'The backup is damaged.'
  return new AppError('invalid_argument', sentence, { cause })
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(number, NONCE_BYTES - 6, 6)
  return nonce
}
