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
  const [first] = await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.run(name, work(name))))
  expect(first?.status).toBe('rejected')
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('starts the next call when one hangs', async () => {
  const turns = new Turns(5)
  const hanging = Promise.withResolvers<string>()
  const first = turns.run('first', () => hanging.promise)
  expect(await turns.run('second', async () => 'second')).toBe('second')
  hanging.resolve('first')
  expect(await first).toBe('first')
})

it('gives no turn to what has hung before, until it succeeds', async () => {
  const turns = new Turns(5)
  const never = new Promise<string>(() => undefined)
  void turns.run('stuck', () => never)
  await turns.run('other', async () => undefined)

  // The holder of the turn waits for the stuck one, which must not wait for it.
  const again = Promise.withResolvers<void>()
  const holder = turns.run('holder', () => again.promise)
  await turns.run('stuck', async () => again.resolve())
  await holder

  const order: string[] = []
  const slow = turns.run('other', async () => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push('other')
  })
  await turns.run('stuck', async () => void order.push('stuck'))
  await slow
  expect(order).toEqual(['other', 'stuck'])
})
