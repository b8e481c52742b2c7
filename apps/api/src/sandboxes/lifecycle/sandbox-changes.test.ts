import { afterEach, expect, it, vi } from 'vitest'
import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { runInScope } from '@sandyard/kit/tracing/scope'
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

/** A request of a team, whose client goes when `leaving` aborts. */
function requestOf(teamId: string, leaving: AbortController) {
  const request = new RequestFacts({ watchClient: () => leaving.signal })
  request.teamId = teamId
  return { request }
}

const never = async (): Promise<object | undefined> => undefined

it('ends the waits of clients that have gone, except of those whose change is still wanted', async () => {
  const [changes, leaving] = [new SandboxChanges(), new AbortController()]
  let isDone = false
  const [left, kept] = runInScope(requestOf('t1', leaving), () => [
    changes.until('i1', never, { timeoutMs: 60_000 }),
    changes.until('i1', async () => (isDone ? {} : undefined), { timeoutMs: 60_000, outlivesClient: true }),
  ])
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  isDone = true
  changes.notify('i1')
  expect(await kept).toEqual({})
})

it('bounds the requests of a team that wait, and lets those of another one wait', async () => {
  const [changes, leaving] = [new SandboxChanges(), new AbortController()]
  const waitOf = (teamId: string) => runInScope(requestOf(teamId, leaving), () => changes.until('i1', never, { timeoutMs: 60_000 }))
  const waits = Array.from({ length: 256 }, () => waitOf('t1'))
  await expect(waitOf('t1')).rejects.toThrow('Too many requests of the team wait')
  const other = waitOf('t2')
  leaving.abort(new Error('gone'))
  for (const wait of [...waits, other]) await expect(wait).rejects.toThrow('gone')
  // The places are free again.
  await expect(runInScope(requestOf('t1', new AbortController()), () => changes.until('i1', never, { timeoutMs: 1 }))).rejects.toThrow(
    'waiting for sandbox state change',
  )
})
