import { Secret } from '@sandyard/kit/config/secret'
import { expect, it } from 'vitest'
import { sandboxAccessToken, sandboxInstanceKey, sandboxTunnelSecret } from './sandbox-token.ts'

const seed = new Secret('seed')

it('derives the same secrets again, and different ones for each use, sandbox, start and installation', () => {
  const all = () => [
    sandboxAccessToken(seed, 'i1'),
    sandboxTunnelSecret(seed, 'i1'),
    sandboxInstanceKey(seed, { sandboxId: 'i1', incarnation: 1 }).reveal(),
    sandboxInstanceKey(seed, { sandboxId: 'i1', incarnation: 11 }).reveal(),
    sandboxInstanceKey(seed, { sandboxId: 'i11', incarnation: 1 }).reveal(),
    sandboxInstanceKey(new Secret('other'), { sandboxId: 'i1', incarnation: 1 }).reveal(),
  ]
  expect(all()).toEqual(all())
  expect(new Set(all()).size).toBe(6)
  for (const secret of all()) expect(secret).toMatch(/^[0-9a-f]{64}$/)
})
