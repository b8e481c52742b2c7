import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { signDelivery } from './sign-delivery.ts'

it('has a signature that is right in the standard and in the URL-safe alphabet, and a body with the same meaning', () => {
  for (let index = 0; index < 200; index += 1) {
    const json = JSON.stringify({ index, text: 'ä' })
    const secret = `secret ${index} `.padEnd(32, 'x')
    const { body, signature } = signDelivery(secret, json)
    const digest = createHash('sha256')
      .update(Buffer.from(secret + body))
      .digest()
    expect(signature).toBe(digest.toString('base64').replaceAll('=', ''))
    expect(signature).toBe(digest.toString('base64url'))
    expect(JSON.parse(body)).toEqual({ index, text: 'ä' })
  }
})
