import { expect, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { watchSandboxes, type SandboxWatcher } from './watch-sandboxes.ts'

it('checks the connections of many sandboxes that change during a check together, after it', async () => {
  const checks: { readonly ids: readonly string[]; readonly done: () => void }[] = []
  let watcher: SandboxWatcher | undefined
  let regular = 0
  await using _watching = watchSandboxes({
    name: 'test',
    watch: (given) => {
      watcher = given
      return { [Symbol.asyncDispose]: async () => undefined }
    },
    tracker: {
      has: () => true,
      recheck: (ids) => {
        if (ids === undefined) {
          regular += 1
          return Promise.resolve()
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        checks.push({ ids, done: resolve })
        return promise
      },
    },
    memories: [],
    log: silentLogger(),
  })
  const ids = Array.from({ length: 200 }, (_, i) => `i${i}`)
  for (const id of ids) watcher?.changed(id)
  expect(checks.map((check) => check.ids)).toEqual([['i0']])
  checks[0]?.done()
  await expect.poll(() => checks.length).toBe(2)
  expect(checks[1]?.ids).toEqual(ids.slice(1))
  checks[1]?.done()
  expect(regular).toBe(1)
})
