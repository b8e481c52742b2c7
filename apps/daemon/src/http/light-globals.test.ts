import { seededRandom } from '@sandyard/test-kit/seeded-random'
import { expect, it } from 'vitest'
import { AbortController, Headers as LightHeaders } from './light-globals.ts'

const NAMES = ['Accept', 'accept', 'X-A', 'x-b', 'Content-Type', 'trailer-x']
const VALUES = ['', 'a', ' b ', 'c, d', 'é', '0']

it('Headers does what the standard does', () => {
  const random = seededRandom(1)
  const pick = (of: readonly string[]): string => of[random(of.length)] ?? ''
  for (let round = 0; round < 300; round += 1) {
    const init = { [pick(NAMES)]: pick(VALUES) }
    const pair = [new LightHeaders(init), new Headers(init)] as const
    for (let step = 0; step < 6; step += 1) {
      const [action, name, value] = [random(3), pick(NAMES), pick(VALUES)]
      for (const headers of pair) {
        if (action === 0) headers.append(name, value)
        else if (action === 1) headers.set(name, value)
        else headers.delete(name)
      }
      expect([pair[0].get(name), pair[0].has(name)]).toEqual([pair[1].get(name), pair[1].has(name)])
    }
    const visited = pair.map((headers) => {
      const entries: [string, string][] = []
      headers.forEach((entry: string, name: string) => entries.push([name, entry]))
      return entries
    })
    expect(visited[0]).toEqual(visited[1])
  }
})

it('Headers takes nothing, a record and pairs', () => {
  expect([...new LightHeaders()]).toEqual([])
  expect([...new LightHeaders([['B', '1']])]).toEqual([['b', '1']])
  const copy = new LightHeaders(new LightHeaders({ a: '1' }))
  copy.append('A', '2')
  expect(copy.get('a')).toBe('1, 2')
})

const abort = (...reason: unknown[]): AbortSignal => {
  const controller = new AbortController()
  controller.abort(...reason)
  return controller.signal
}

it('AbortController shares the reason of aborts without a reason, which is the standard AbortError', () => {
  expect(abort().reason).toMatchObject({ name: 'AbortError', code: DOMException.ABORT_ERR })
  expect(abort().reason).toBe(abort(undefined).reason)
})

it('AbortController keeps the reason of an abort', () => {
  expect(abort('gone')).toMatchObject({ aborted: true, reason: 'gone' })
})
