import { expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { Orphan as FoundOrphan, OrphanSource } from '@sandyard/runtime/orphan'
import { OrphanDesk } from './orphan-desk.ts'

const orphan = (id: string): FoundOrphan => ({ kind: 'image', id, name: id, createdAt: new Date(0), sizeBytes: 5, reason: 'test' })
const { signal } = new AbortController()

/** An engine with these orphans, whose removals wait for `gate`. */
function engine(ids: readonly string[], gate: Promise<void> = Promise.resolve()) {
  const present = new Set(ids)
  const counts = { looks: 0 }
  const source: OrphanSource = {
    find: async () => {
      counts.looks += 1
      return [...present].map(orphan)
    },
    remove: async ({ id }) => {
      await gate
      if (id === 'stuck') throw new AppError('conflict', 'it is in use')
      present.delete(id)
    },
  }
  return { counts, desk: new OrphanDesk(async () => source, silentLogger()) }
}

it('looks once for pages that ask at once, and again after a removal', async () => {
  const { counts, desk } = engine(['a', 'b'])
  expect(desk.known).toBeUndefined()
  const [first, second] = await Promise.all([desk.list(), desk.list()])
  expect([first, counts.looks]).toEqual([second, 1])
  expect(first).toMatchObject({ data: [{ id: 'a', bytes: 5, isForeign: false }, { id: 'b' }], isCut: false })
  expect(desk.known).toEqual({ count: 2, bytes: 10 })
  await desk.list()
  expect(counts.looks).toBe(1)
  await desk.collect({ dryRun: false, signal })
  expect((await desk.list()).data).toEqual([])
})

it('removes all that can be removed, and says what could not', async () => {
  const { desk } = engine(['a', 'stuck', 'b'])
  expect((await desk.collect({ dryRun: true, signal })).removed.map(({ id }) => id)).toEqual(['a', 'stuck', 'b'])
  const { removed, failed } = await desk.collect({ dryRun: false, signal })
  expect(removed.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(failed).toEqual([{ id: 'stuck', message: 'it is in use' }])
})

it('refuses a second removal at once, and ends one whose client has gone', async () => {
  const gate = Promise.withResolvers<void>()
  const { desk } = engine(['a', 'b'], gate.promise)
  const gone = new AbortController()
  const collecting = desk.collect({ dryRun: false, signal: gone.signal })
  await expect(desk.collect({ dryRun: true, signal })).rejects.toMatchObject({ kind: 'conflict' })
  gone.abort(new AppError('canceled', 'gone'))
  expect(await collecting).toMatchObject({ removed: [] })
  gate.resolve()
  expect((await desk.collect({ dryRun: true, signal })).removed.map(({ id }) => id)).toContain('b')
})

it('is not served without an engine', async () => {
  const desk = new OrphanDesk(undefined, silentLogger())
  expect(desk.isServed).toBe(false)
  await expect(desk.list()).rejects.toMatchObject({ kind: 'unimplemented' })
})
