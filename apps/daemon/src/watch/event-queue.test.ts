import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { describe, expect, it } from 'vitest'
import { EventQueue } from './event-queue.ts'
import { MAX_BEHIND, queueOverflow } from './watch-failure.ts'

const change = (index: number) => ({ path: String(index), type: EventType.WRITE })

describe('EventQueue', () => {
  it('gives out what it took in order, then why there is no more', async () => {
    const queue = new EventQueue()
    for (let index = 0; index < MAX_BEHIND; index += 1) queue.push(change(index))
    expect(() => queue.push(change(MAX_BEHIND))).toThrow('watcher error: fsnotify: queue or buffer overflow')
    queue.fail(queueOverflow())
    for (let index = 0; index < MAX_BEHIND; index += 1) expect(await queue.next(1000)).toEqual(change(index))
    for (const time of ['first', 'second']) await expect(queue.next(1000), time).rejects.toThrow(queueOverflow())
  })

  it('says when nothing came, and wakes up for what comes', async () => {
    const queue = new EventQueue()
    expect(await queue.next(1)).toBe('idle')
    const next = queue.next(60_000)
    queue.push(change(1))
    expect(await next).toEqual(change(1))
  })

  it('forgets what it has when it is closed', async () => {
    for (const reason of [undefined, new AppError('unavailable', 'the end')]) {
      const queue = new EventQueue()
      queue.push(change(1))
      queue.close(reason)
      if (reason === undefined) expect(await queue.next(1000)).toBeUndefined()
      else await expect(queue.next(1000)).rejects.toThrow(reason)
    }
  })
})
