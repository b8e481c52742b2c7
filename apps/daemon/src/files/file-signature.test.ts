import { describe, expect, it } from 'vitest'
import { checkFileAccess, type FileAccess, fileSignature } from './file-signature.ts'

const token = '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0'
const now = 1_700_000_000
const plain: FileAccess = {
  operation: 'read',
  path: 'hello.txt',
  username: 'user',
  signature: undefined,
  expiration: undefined,
  presentedToken: undefined,
}

function signed(change: Partial<FileAccess> = {}): FileAccess {
  const access = { ...plain, ...change }
  return { ...access, signature: fileSignature(access, token) }
}

describe('fileSignature', () => {
  it('is the test vector of envd.md 3.3 (envd.md 18.5)', () => {
    expect(fileSignature(plain, token)).toBe('v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E')
  })

  it('treats absent parameters as empty (envd.md 18.5)', () => {
    const absent = { ...plain, path: undefined, username: undefined }
    expect(fileSignature(absent, token)).toBe(fileSignature({ ...plain, path: '', username: '' }, token))
  })
})

describe('checkFileAccess', () => {
  it.each<[string, FileAccess, string | undefined]>([
    ['anything without a token of the sandbox (envd.md 18.7)', { ...plain, signature: 'garbage' }, undefined],
    ['the right token, whatever the signature (envd.md 18.4)', { ...plain, presentedToken: token, signature: 'garbage' }, token],
    ['a good signature', signed(), token],
    ['an empty token header, which counts as none', { ...signed(), presentedToken: '' }, token],
    ['a signature of this very second (envd.md 18.6)', signed({ expiration: BigInt(now) }), token],
    ['a signature far beyond 2^53', signed({ expiration: 9_223_372_036_854_775_807n }), token],
  ])('passes %s', (_name, access, expected) => {
    expect(() => checkFileAccess(access, expected, now + 0.9)).not.toThrow()
  })

  it.each<[string, FileAccess, string]>([
    [
      'a wrong token with a good signature (envd.md 18.4)',
      { ...signed(), presentedToken: 'x' },
      'access token present in header but does not match',
    ],
    ['no signature', plain, 'missing signature query parameter'],
    ['an empty signature', { ...plain, signature: '' }, 'invalid signature'],
    ['a signature of another operation', { ...signed(), operation: 'write' }, 'invalid signature'],
    ['another spelling of the path (envd.md 18.5)', { ...signed(), path: './hello.txt' }, 'invalid signature'],
    ['an expiry that was not signed (envd.md 18.6)', { ...signed(), expiration: 1n }, 'invalid signature'],
    ['a signature of a second ago (envd.md 18.6)', signed({ expiration: BigInt(now - 1) }), 'signature is already expired'],
    ['a padded signature', { ...signed(), signature: `${fileSignature(plain, token)}=` }, 'invalid signature'],
  ])('refuses %s', (_name, access, message) => {
    expect(() => checkFileAccess(access, token, now)).toThrow(expect.objectContaining({ kind: 'unauthenticated', message }))
  })
})
