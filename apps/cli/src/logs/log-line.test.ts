import { expect, it } from 'vitest'
import { NewLines } from './log-line.ts'

const at = (ms: number, message: string) => ({ timestamp: new Date(ms).toISOString(), message })
const texts = (lines: readonly { readonly message: string }[]): string => lines.map(({ message }) => message).join(' ')

it('passes on each line once when pages begin with the last millisecond of the page before', () => {
  const fresh = new NewLines()
  expect(fresh.cursor).toBeUndefined()
  expect(texts(fresh.take([at(1, 'a'), at(2, 'b'), at(2, 'c')], false))).toBe('a b c')
  expect(fresh.cursor).toBe(2)
  expect(texts(fresh.take([at(2, 'b'), at(2, 'c')], false))).toBe('')
  expect(texts(fresh.take([at(2, 'b'), at(2, 'c'), at(2, 'd'), at(3, 'e')], false))).toBe('d e')
  expect(fresh.cursor).toBe(3)
})

it('keeps equal lines of one millisecond apart', () => {
  const fresh = new NewLines()
  expect(texts(fresh.take([at(5, 'same'), at(5, 'same')], false))).toBe('same same')
  expect(texts(fresh.take([at(5, 'same'), at(5, 'same'), at(5, 'same')], false))).toBe('same')
})

it('goes on behind a millisecond that has more lines than a page', () => {
  const fresh = new NewLines()
  const page = [at(7, 'a'), at(7, 'b')]
  fresh.take(page, true)
  expect(fresh.take(page, true)).toEqual([])
  expect(fresh.cursor).toBe(8)
  expect(texts(fresh.take([at(8, 'c')], false))).toBe('c')
})
