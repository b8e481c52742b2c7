import { expect, it } from 'vitest'
import { REPAIRS_AT_ONCE, repairEach } from './repair-each.ts'

it('repairs all items with bounded concurrency, although one hangs and one fails', async () => {
  const hanging = Promise.withResolvers<void>()
  const done: number[] = []
  let running = 0
  let most = 0
  const repaired = repairEach([...Array(50).keys()], async (item) => {
    running += 1
    most = Math.max(most, running)
    await (item === 0 ? hanging.promise : new Promise((resolve) => setImmediate(resolve)))
    running -= 1
    if (item === 7) throw new Error('seven')
    if (done.push(item) === 48) hanging.resolve()
  })
  await expect(repaired).rejects.toMatchObject({ message: '1 of 50 repairs failed', errors: [new Error('seven')] })
  expect(done.at(-1)).toBe(0)
  expect(most).toBe(REPAIRS_AT_ONCE)
})
