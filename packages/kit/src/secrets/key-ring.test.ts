import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { Secret } from '../config/secret.ts'
import { KeyRing, UnopenedError } from './key-ring.ts'

const newKey = (form: 'hex' | 'base64' = 'hex'): Secret => new Secret(randomBytes(32).toString(form))

it('opens what it has sealed, with keys in both forms, and seals a value differently each time', () => {
  for (const form of ['hex', 'base64'] as const) {
    const ring = new KeyRing([newKey(form)])
    const [one, other] = [ring.seal('row 1', 'päss'), ring.seal('row 1', 'päss')]
    expect(ring.open('row 1', one)).toBe('päss')
    expect(one.sealed).not.toEqual(other.sealed)
    expect(one.sealed.includes('päss')).toBe(false)
  }
})

it('opens nothing of another place, of another key, or changed', () => {
  const ring = new KeyRing([newKey()])
  const { keyId, sealed } = ring.seal('row 1', 'value')
  expect(() => ring.open('row 2', { keyId, sealed })).toThrow(UnopenedError)
  expect(() => new KeyRing([newKey()]).open('row 1', { keyId, sealed })).toThrow(UnopenedError)
  const changed = Buffer.from(sealed)
  changed[20] = (changed[20] ?? 0) ^ 1
  for (const bad of [changed, sealed.subarray(0, 10), Buffer.alloc(0)]) {
    expect(() => ring.open('row 1', { keyId, sealed: bad })).toThrow(UnopenedError)
  }
})

it('still opens with a key that a newer one has replaced', () => {
  const [old, newest] = [newKey(), newKey()]
  const sealed = new KeyRing([old]).seal('row 1', 'value')
  const ring = new KeyRing([newest, old])
  expect(ring.open('row 1', sealed)).toBe('value')
  expect(ring.keyIds).toEqual([ring.keyId, sealed.keyId])
  expect(ring.seal('row 1', 'value').keyId).not.toBe(sealed.keyId)
})

it('refuses a key of another length without quoting it', () => {
  expect(() => new KeyRing([new Secret('too short')])).toThrow(/^a key has 32 bytes, in hex or base64$/)
})
