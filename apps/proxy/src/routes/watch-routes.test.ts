import { expect, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { ConnectionTracker } from './connection-tracker.ts'
import { RouteReader } from './route-reader.ts'
import type { Route, RouteSource, RouteWatcher } from './route.ts'
import { watchRoutes } from './watch-routes.ts'

it('checks the connections of many changed sandboxes with a few queries, one at a time', async () => {
  const log = silentLogger()
  const queries: PromiseWithResolvers<ReadonlyMap<string, Route>>[] = []
  let watcher: RouteWatcher | undefined
  const routes: RouteSource = {
    read: () => {
      const query = Promise.withResolvers<ReadonlyMap<string, Route>>()
      queries.push(query)
      return query.promise
    },
    watch: (given) => {
      watcher = given
      return { [Symbol.asyncDispose]: async () => undefined }
    },
  }
  const tracker = new ConnectionTracker(new RouteReader(routes, { maxQueries: 4, maxWaiting: 10 }), {
    maxConnections: 1,
    maxClientConnections: 1,
    log,
  })
  await using _watching = watchRoutes({ routes, tracker, memories: [], log })
  const ids = Array.from({ length: 200 }, (_, i) => `i${i}`)
  const ended: string[] = []
  for (const sandboxId of ids) {
    const endpoint = { host: '127.0.0.1', daemonPort: 1 }
    const access = { isSecure: false, isPublic: true, maskHost: undefined, wakes: false }
    const route = { sandboxId, incarnation: 1, state: 'running', endpoint, startedAt: 1, ...access } as const
    tracker.open({ route, client: undefined, reset: () => ended.push(sandboxId) })
  }
  for (const id of ids) watcher?.changed(id)
  expect(queries).toHaveLength(1)
  queries[0]?.resolve(new Map())
  await expect.poll(() => queries.length).toBe(2)
  queries[1]?.resolve(new Map())
  await expect.poll(() => ended.length).toBe(ids.length)
  expect(queries).toHaveLength(2)
})
