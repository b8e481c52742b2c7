import { expect, it } from 'vitest'
import { parseSignedUrl, signatureTest } from './signed-url.ts'

const token = '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0'
const vector = 'path=hello.txt&username=user&signature=v1_gUtH%2Fs9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E'

function isSignedBy(search: string, presented = token): boolean | undefined {
  const url = parseSignedUrl('read', search)
  return url && signatureTest(url)?.(presented)
}

it('accepts the test vector of envd.md 3.3 (envd.md 18.5)', () => {
  expect(isSignedBy(vector)).toBe(true)
  expect(isSignedBy(vector, `${token}0`)).toBe(false)
})

it.each([
  vector.replace('hello', 'Hello'),
  vector.replace('username=user', 'username=root'),
  `${vector}&signature_expiration=1`,
  vector.replace('v1_g', 'v1_h'),
])('%s matches no token', (search) => expect(isSignedBy(search)).toBe(false))

it.each(['', 'v1_', 'v2_gUtH%2Fs9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E', 'v1_gUtH', `v1_${'A'.repeat(44)}`, `v1_${'A'.repeat(43)}=`])(
  'the signature "%s" costs no comparison',
  (signature) => expect(isSignedBy(`path=x&signature=${signature}`)).toBeUndefined(),
)

it('returns undefined without a signature', () => expect(parseSignedUrl('read', 'path=hello.txt')).toBeUndefined())

it.each([
  ['10', ':10'],
  ['%2B0010', ':10'],
  ['-7', ':-7'],
  ['1e3', ':1e3'],
  ['9'.repeat(21), `:${'9'.repeat(21)}`],
])('an expiration of %s is signed as "%s"', (text, signed) => {
  expect(parseSignedUrl('write', `signature=x&signature_expiration=${text}`)).toMatchObject({
    beforeToken: Buffer.from(':write::'),
    behindToken: signed,
  })
})

it('uses the bytes of the first well-formed parameter among repeated ones', () => {
  expect(parseSignedUrl('read', 'path=%&path=%ff+%C3%BC\u00e9;&path=a%3d=%FF+b&path=c&username=u%2B&signature=x&&')).toMatchObject({
    beforeToken: Buffer.from('a==\xff b:read:u+:', 'latin1'),
  })
})
