import { expect, it } from 'vitest'
import { eventAfter, readAsciicast, sizeOf } from './read-asciicast.ts'

const lines = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n')
const header = { version: 2, width: 100, height: 30, timestamp: 1 }

it('reads output and sizes, and leaves input out', () => {
  const cast = readAsciicast(lines(header, [0.5, 'o', 'a'], [0.7, 'i', 'typed'], [1, 'r', '120x40'], [2, 'o', 'b']))
  expect(cast).toEqual({
    cols: 100,
    rows: 30,
    durationS: 2,
    events: [
      { at: 0.5, kind: 'output', data: 'a' },
      { at: 1, kind: 'resize', data: '120x40' },
      { at: 2, kind: 'output', data: 'b' },
    ],
  })
})

it('shortens pauses', () => {
  const cast = readAsciicast(lines(header, [0, 'o', 'a'], [100, 'o', 'b'], [101, 'o', 'c']), 2)
  expect(cast.events.map(({ at }) => at)).toEqual([0, 2, 3])
})

it('leaves a line out that was cut', () => {
  expect(readAsciicast(`${lines(header, [0, 'o', 'a'])}\n[1, "o", "b`).events).toHaveLength(1)
})

it('refuses what is not a recording', () => {
  expect(() => readAsciicast('')).toThrow('asciicast')
  expect(() => readAsciicast(lines({ version: 1 }))).toThrow('asciicast')
})

it('keeps sizes sane', () => {
  expect(readAsciicast(lines({ version: 2, width: -1, height: 1e9 }))).toMatchObject({ cols: 80, rows: 1000 })
  expect(sizeOf('120x40')).toEqual({ cols: 120, rows: 40 })
  expect(sizeOf('0x40')).toEqual({ cols: 80, rows: 40 })
  expect(sizeOf('x')).toBeUndefined()
})

it('finds the events until an instant', () => {
  const { events } = readAsciicast(lines(header, [1, 'o', 'a'], [2, 'o', 'b'], [2, 'o', 'c']))
  expect([0, 1, 1.5, 2, 9].map((at) => eventAfter(events, at))).toEqual([0, 1, 1, 3, 3])
})
