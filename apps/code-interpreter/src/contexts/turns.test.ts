import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('turns are taken in order, and one who leaves loses its place', async () => {
  const turns = new Turns()
  const order: string[] = []
  const giveBack = await turns.take()
  const leaving = new AbortController()
  const left = turns.take(leaving.signal)
  const first = turns.take().then((give) => {
    order.push('first')
    return give
  })
  const second = turns.take().then((give) => {
    order.push('second')
    return give
  })
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  giveBack()
  const giveFirst = await first
  expect(order).toEqual(['first'])
  giveFirst()
  const giveSecond = await second
  giveSecond()
  const free = await turns.take()
  free()
})

test('the line has an end', async () => {
  const turns = new Turns()
  await turns.take()
  const waiting = Array.from({ length: 100 }, () => turns.take())
  await expect(turns.take()).rejects.toMatchObject({ kind: 'resource_exhausted' })
  expect(waiting).toHaveLength(100)
})

test('one that has left already gets no turn', async () => {
  const turns = new Turns()
  await expect(turns.take(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  const free = await turns.take()
  free()
})
