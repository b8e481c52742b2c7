import { expect, it } from 'vitest'
import { EventBuffer } from './event-buffer.ts'
import type { RuntimeEvent } from './types.ts'

const event = (sandboxId: string): RuntimeEvent => ({ sandboxId, incarnation: 1, kind: 'exited' })
const nothing = (): void => undefined

it('returns events that were added before and during the read, in order, until the end', async () => {
  const buffer = new EventBuffer(nothing)
  buffer.add(event('a'))
  const read = Array.fromAsync(buffer)
  buffer.add(event('b'))
  await new Promise((resolve) => setImmediate(resolve))
  buffer.add(event('c'))
  buffer.end()
  buffer.add(event('late'))
  expect((await read).map(({ sandboxId }) => sandboxId)).toEqual(['a', 'b', 'c'])
})

it('drops all events and ends when more are added than its cap', async () => {
  let ends = 0
  const buffer = new EventBuffer(() => (ends += 1), 3)
  for (const name of ['a', 'b', 'c', 'd', 'e']) buffer.add(event(name))
  expect(ends).toBe(1)
  expect(await Array.fromAsync(buffer)).toEqual([])
})

it('ends when its reader stops', async () => {
  let ends = 0
  const buffer = new EventBuffer(() => (ends += 1))
  buffer.add(event('a'))
  for await (const { sandboxId } of buffer) if (sandboxId === 'a') break
  expect(ends).toBe(1)
})
