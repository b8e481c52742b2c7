import { PAUSE_JITTER } from '@sandyard/kit/lifecycle/run-loop'
import { expect, it } from 'vitest'
import { LEASE_RENEWAL, SERVER_LEASE_MS } from './server-lease.ts'

it('leaves time for a second renewal before the lease ends when the first one fails', () => {
  const { timeoutMs, pauseMs } = LEASE_RENEWAL
  expect(3 * timeoutMs + 2 * pauseMs * (1 + PAUSE_JITTER)).toBeLessThan(SERVER_LEASE_MS)
})
