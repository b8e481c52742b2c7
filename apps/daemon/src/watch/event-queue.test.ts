import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { describe, expect, it } from 'vitest'
import { Backlog } from './backlog.ts'
import { EventQueue } from './event-queue.ts'

const change = (index: number) => ({ path: String(index), type: EventType.WRITE })
const share = () => new Backlog().open(() => expect.unreachable())

describe('EventQueue', () => {
  it('returns changes in order, and counts them until then', async () => {
    const [queue, backlog] = [new EventQueue(), share()]
    for (let index = 0; index < 1000; index += 1) queue.push(change(index), backlog)
    expect(backlog.count).toBe(1000)
    for (let index = 0; index < 1000; index += 1) expect(await queue.next(1000)).toEqual(change(index))
    expect(backlog.count).toBe(0)
  })

  it('reports idleness, and wakes up for a change', async () => {
    const queue = new EventQueue()
    expect(await queue.next(1)).toBe('idle')
    const next = queue.next(60_000)
    queue.push(change(1), share())
    expect(await next).toEqual(change(1))
  })

  it('drops its changes when it is closed', async () => {
    for (const reason of [undefined, new AppError('unavailable', 'the end')]) {
      const queue = new EventQueue()
      queue.push(change(1), share())
      queue.close(reason)
      if (reason === undefined) expect(await queue.next(1000)).toBeUndefined()
      else await expect(queue.next(1000)).rejects.toThrow(reason)
    }
  })
})
