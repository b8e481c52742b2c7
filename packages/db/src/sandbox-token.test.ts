import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { proxyWakeKey, sandboxAccessToken, sandboxInstanceKey, sandboxTrafficToken, sandboxTunnelSecret } from './sandbox-token.ts'

const seed = new Secret('ab'.repeat(32))
const hmac = (text: string): string => createHmac('sha256', seed.reveal()).update(text).digest('hex')

it('derives each secret from its own text (control-plane.md 18.1, 18.2)', () => {
  expect(sandboxAccessToken(seed, 'i1')).toBe(hmac('i1'))
  expect(sandboxTrafficToken(seed, 'i1')).toBe(hmac('sandbox-traffic-i1'))
  expect(sandboxTunnelSecret(seed, 'i1')).toBe(hmac('tunnel:i1'))
  expect(proxyWakeKey(seed)).toBe(hmac('proxy:wake'))
  expect(sandboxInstanceKey(seed, { sandboxId: 'i1', incarnation: 2 }).reveal()).toBe(hmac('instance:i1/2'))
})
