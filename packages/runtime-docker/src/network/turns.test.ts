import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

it('runs one call at a time, in order, also after a failure', async () => {
  const turns = new Turns(60_000)
  const order: string[] = []
  const work = (name: string) => async (): Promise<void> => {
    order.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(`${name} ends`)
    if (name === 'a') throw new Error('a failed')
  }
  const [first] = await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.run(work(name))))
  expect(first?.status).toBe('rejected')
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('starts the next call when one hangs', async () => {
  const turns = new Turns(5)
  const hanging = Promise.withResolvers<string>()
  const first = turns.run(() => hanging.promise)
  expect(await turns.run(async () => 'second')).toBe('second')
  hanging.resolve('first')
  expect(await first).toBe('first')
})
