import { afterEach, expect, it, vi } from 'vitest'
import { SandboxChanges } from './sandbox-changes.ts'

afterEach(() => void vi.restoreAllMocks())

it('a wait with many looks listens once', async () => {
  const listening = vi.spyOn(EventTarget.prototype, 'addEventListener')
  const changes = new SandboxChanges()
  let looks = 0
  const look = async () => {
    looks += 1
    // The second look follows a notification, the third one comes although none was heard.
    if (looks === 1) queueMicrotask(() => changes.notify('i1'))
    return looks < 3 ? undefined : { looks }
  }
  expect(await changes.until('i1', look, { timeoutMs: 60_000 })).toEqual({ looks: 3 })
  expect(listening.mock.calls.filter(([kind]) => kind === 'change')).toHaveLength(1)
})
