import { expect, it } from 'vitest'
import { SizeSender, type TerminalSize } from './size-sender.ts'

/** A daemon that answers a call when `answer` is called. */
function daemon() {
  const told: TerminalSize[] = []
  let pending = Promise.withResolvers<void>()
  return {
    told,
    send: (size: TerminalSize) => {
      told.push(size)
      return pending.promise
    },
    answer: async (failure?: Error) => {
      const { resolve, reject } = pending
      pending = Promise.withResolvers<void>()
      if (failure === undefined) resolve()
      else reject(failure)
      await new Promise(setImmediate)
    },
  }
}

it('sends one size at a time, and the latest of those that were asked for meanwhile', async () => {
  const { told, send, answer } = daemon()
  const size = new SizeSender({ cols: 80, rows: 24 }, send)
  for (const cols of [81, 82, 83]) size.change({ cols, rows: 24 })
  expect(told).toEqual([{ cols: 81, rows: 24 }])
  await answer()
  expect(told.slice(1)).toEqual([{ cols: 83, rows: 24 }])
  await answer()
  expect(told).toHaveLength(2)
})

it('sends an unchanged size only for a redraw, after another one', async () => {
  const { told, send, answer } = daemon()
  const size = new SizeSender({ cols: 80, rows: 24 }, send)
  expect(size.change({ cols: 80, rows: 24 })).toBe(false)
  expect(size.change({ cols: 80, rows: 24 }, { redraw: true })).toBe(true)
  await answer()
  expect(told).toEqual([
    { cols: 80, rows: 23 },
    { cols: 80, rows: 24 },
  ])
})

it('sends the next size after a failure', async () => {
  const { told, send, answer } = daemon()
  const size = new SizeSender({ cols: 80, rows: 24 }, send)
  size.change({ cols: 81, rows: 24 })
  await answer(new Error('no answer'))
  size.change({ cols: 82, rows: 24 })
  expect(told.at(-1)).toEqual({ cols: 82, rows: 24 })
})

it('keeps nothing of a frame but its size', () => {
  const size = new SizeSender({ cols: 80, rows: 24 }, daemon().send)
  const frame = { t: 'term.resize', channel: 1, cols: 100, rows: 30 }
  size.change(frame)
  expect(size.current).toEqual({ cols: 100, rows: 30 })
})
