import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeSandbox } from '@sandyard/runtime/fake/fake-engine'
import { reapExpired } from '../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { findBuild, isClaimed, isUploaded, messagesOf, queueBuild } from './support/builds.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { buildWorkerOf, drillBreaks, drillCrashes, findParked, type CrashDrill } from './support/crash-drill.ts'

/** Each drill starts a server for each of its crash points. */
const TIMEOUT = 240_000

let world: World
let api: Server
let other: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '1000' } })
  other = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '1000' } })
})
afterEach(() => world[Symbol.asyncDispose]())

type Blow = 'killed' | 'cut off'

/** Checks that the operation has at least so many steps, of which a lost connection breaks those that write. */
async function drill<T>(blow: Blow, plan: CrashDrill<T>, leastSteps = 1): Promise<void> {
  const steps = blow === 'killed' ? await drillCrashes(world, [api, other], plan) : await drillBreaks(world, api, plan)
  expect(steps).toBeGreaterThanOrEqual(blow === 'killed' ? leastSteps : 1)
}

const BLOWS: readonly (readonly [string, Blow])[] = [
  ['a server that is killed before, during and after each step', 'killed'],
  ['a server that is cut off from its database before and during each write', 'cut off'],
]

function onEngine(id: string): FakeSandbox {
  const found = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)
  if (found === undefined) throw new Error(`the engine has no sandbox ${id}`)
  return found
}

/** An acknowledged sandbox with something in its files and in its memory. */
async function create(fields: object = {}): Promise<string> {
  const { status, body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...fields } })
  expect(status).toBe(201)
  const { files, memory } = onEngine(body.sandboxID)
  files.set('file', body.sandboxID)
  memory.set('memory', body.sandboxID)
  return body.sandboxID
}

async function paused(memory: boolean): Promise<string> {
  const id = await create()
  expect((await api.call('POST', `/sandboxes/${id}/pause`, { body: { memory } })).status).toBe(204)
  return id
}

/** It is there with its files, and its memory if it was not dropped, can be paused and resumed, and is killed. */
async function expectWhole(id: string, { memory = true } = {}): Promise<void> {
  const kept = onEngine(id)
  expect(kept.files.get('file')).toBe(id)
  if (memory) expect(kept.memory.get('memory')).toBe(id)
  expect((await api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 60 } })).status).toBeOneOf([200, 201])
  expect((await other.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
  expect((await api.call('POST', `/sandboxes/${id}/resume`)).status).toBe(201)
  await expectKilled(id)
}

async function expectKilled(id: string): Promise<void> {
  expect((await other.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
  await expectGone(id)
}

async function expectGone(id: string): Promise<void> {
  expect((await api.call('GET', `/sandboxes/${id}`)).status).toBe(404)
  expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(404)
}

const stateOf = async (id: string): Promise<string> => (await api.call('GET', `/sandboxes/${id}`)).body.state
const listed = async (): Promise<string[]> =>
  (await api.call('GET', '/v2/sandboxes')).body.map(({ sandboxID }: { sandboxID: string }) => sandboxID)
const forksOf = (answered: unknown): number =>
  (answered as Answer).body.filter(({ sandbox }: { sandbox?: object }) => sandbox !== undefined).length
const idOf = (answered: unknown): string | undefined => (answered as Answer | undefined)?.body.sandboxID

describe.each(BLOWS)('%s', { timeout: TIMEOUT }, (_, blow) => {
  it('of a create leaves a whole sandbox or none, and a repeated create with its idempotency key finds the same', async () => {
    let number = 0
    await drill(
      blow,
      {
        betweenSteps: true,
        prepare: async () => {
          number += 1
          return { body: { templateID: 'base', timeout: 600 }, headers: { 'idempotency-key': `create-${number}` } }
        },
        operate: (dying, request) => dying.call('POST', '/v2/sandboxes', request),
        check: async (request, { answered }) => {
          const left = await listed()
          expect(left.length).toBeLessThanOrEqual(1)
          const again = await other.call('POST', '/v2/sandboxes', request)
          expect(again.status).toBe(201)
          expect(left).toEqual(left.length === 0 ? [] : [again.body.sandboxID])
          if (answered !== undefined) expect(idOf(answered)).toBe(again.body.sandboxID)
          await expectKilled(again.body.sandboxID)
        },
      },
      3,
    )
  })

  describe.each([true, false])('(memory: %s)', (memory) => {
    it('of a pause leaves a sandbox that runs or is paused', async () => {
      await drill(
        blow,
        {
          betweenSteps: false,
          prepare: () => create(),
          operate: (dying, id) => dying.call('POST', `/sandboxes/${id}/pause`, { body: { memory } }),
          check: async (id, { answered }) => {
            if (answered !== undefined) expect(await stateOf(id)).toBe('paused')
            await expectWhole(id, { memory })
          },
        },
        3,
      )
    })

    it('of a pause at the end time leaves a paused sandbox', async () => {
      await drill(
        blow,
        {
          betweenSteps: false,
          prepare: async () => {
            const id = await create({ autoPause: true, autoPauseMemory: memory })
            expect((await api.call('POST', `/sandboxes/${id}/timeout`, { body: { timeout: 0 } })).status).toBe(204)
            return id
          },
          operate: async ({ ctx }) => {
            const repairs = new Repairs(ctx.log.sandboxes)
            await reapExpired({ ...ctx.sandboxes, repairs, engineId: ctx.engineId })
            await repairs.drain()
          },
          check: async (id) => {
            // A pause that fails is tried again later.
            expect(await stateOf(id)).toBeOneOf(blow === 'killed' ? ['paused'] : ['paused', 'running'])
            await expectWhole(id, { memory })
          },
        },
        3,
      )
    })

    it('of a resume leaves a sandbox that runs or is paused', async () => {
      await drill(
        blow,
        {
          betweenSteps: true,
          prepare: () => paused(memory),
          operate: (dying, id) => dying.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 600 } }),
          check: async (id, { answered }) => {
            if (answered !== undefined) expect(await stateOf(id)).toBe('running')
            await expectWhole(id, { memory })
          },
        },
        3,
      )
    })
  })

  it.each(['running', 'paused'])('of a kill of a %s sandbox leaves nothing of it, or all of it', async (state) => {
    await drill(
      blow,
      {
        betweenSteps: false,
        prepare: () => (state === 'running' ? create() : paused(true)),
        operate: (dying, id) => dying.call('DELETE', `/sandboxes/${id}`),
        check: async (id, { answered }) => {
          const isThere = (await listed()).includes(id) || (await api.call('GET', `/sandboxes/${id}`)).status === 200
          if (answered !== undefined) expect(isThere).toBe(false)
          if (isThere) await expectWhole(id)
          else await expectGone(id)
        },
      },
      2,
    )
  })

  it('of an end at the end time leaves nothing of the sandbox', async () => {
    await drill(blow, {
      betweenSteps: false,
      prepare: async () => {
        const id = await create()
        await api.call('POST', `/sandboxes/${id}/timeout`, { body: { timeout: 0 } })
        return id
      },
      operate: async ({ ctx }) => {
        const repairs = new Repairs(ctx.log.sandboxes)
        await reapExpired({ ...ctx.sandboxes, repairs, engineId: ctx.engineId })
        await repairs.drain()
      },
      check: (id) => expectGone(id),
    })
  })

  it('of a snapshot leaves the sandbox, and a whole snapshot or none', async () => {
    await drill(
      blow,
      {
        betweenSteps: false,
        prepare: () => create(),
        operate: (dying, id) => dying.call('POST', `/sandboxes/${id}/snapshots`),
        check: async (id, { answered }) => {
          const { body: snapshots } = await api.call('GET', `/snapshots?sandboxID=${id}`)
          if (answered !== undefined) expect(snapshots).toHaveLength(1)
          expect(snapshots.length).toBeLessThanOrEqual(1)
          for (const { snapshotID } of snapshots) {
            const made = await other.call('POST', '/v2/sandboxes', { body: { templateID: snapshotID, timeout: 60 } })
            expect(made.status).toBe(201)
            expect(onEngine(made.body.sandboxID).files.get('file')).toBe(id)
            await expectKilled(made.body.sandboxID)
          }
          await expectWhole(id)
        },
      },
      3,
    )
  })

  it('of a fork of 2 leaves the sandbox and whole forks', async () => {
    await drill(
      blow,
      {
        betweenSteps: false,
        prepare: () => create(),
        operate: (dying, id) => dying.call('POST', `/sandboxes/${id}/fork`, { body: { timeout: 600, count: 2 } }),
        check: async (id, { answered }) => {
          const forks = (await listed()).filter((found) => found !== id)
          expect(forks.length).toBeLessThanOrEqual(2)
          if (answered !== undefined) expect(forks).toHaveLength(forksOf(answered))
          for (const fork of forks) {
            expect(onEngine(fork).files.get('file')).toBe(id)
            await expectKilled(fork)
          }
          await expectWhole(id)
        },
      },
      5,
    )
  })

  it('of an update of the network leaves the former policy or the new one', async () => {
    await drill(
      blow,
      {
        betweenSteps: false,
        prepare: () => create(),
        operate: (dying, id) => dying.call('PUT', `/sandboxes/${id}/network`, { body: { denyOut: ['198.51.100.1'] } }),
        check: async (id, { answered }) => {
          const { denyOut } = onEngine(id).egress
          if (answered === undefined) expect(denyOut).toBeOneOf([[], ['198.51.100.1']])
          else expect(denyOut).toEqual(['198.51.100.1'])
          await expectWhole(id)
        },
      },
      2,
    )
  })

  it('of the deletion of a snapshot leaves the whole snapshot or nothing of it', async () => {
    await drill(blow, {
      betweenSteps: false,
      prepare: async () => {
        const id = await create()
        const { body } = await api.call('POST', `/sandboxes/${id}/snapshots`)
        return { id, snapshotId: body.snapshotID as string }
      },
      operate: (dying, { snapshotId }) => dying.call('DELETE', `/templates/${snapshotId.split(':')[0]}`),
      check: async ({ id, snapshotId }, { answered }) => {
        const made = await other.call('POST', '/v2/sandboxes', { body: { templateID: snapshotId, timeout: 60 } })
        expect(made.status).toBeOneOf(answered === undefined ? [201, 404] : [404])
        if (made.status === 201) await expectKilled(made.body.sandboxID)
        await expectWhole(id)
      },
    })
  })

  describe('of the warm pool', () => {
    const env = { SANDYARD_POOL_MEMORY: '0.5', SANDYARD_POOL_PER_TEMPLATE: '1', SANDYARD_MAX_SANDBOXES: '1000' }

    it('leaves nothing of a sandbox that it was starting', async () => {
      await drill(
        blow,
        {
          betweenSteps: true,
          env,
          prepare: async () => undefined,
          operate: async ({ ctx }) => {
            await ctx.pool.fill()
            await ctx.pool.settled()
          },
          check: async () => expect(world.engine.sandboxes.size).toBe(0),
        },
        3,
      )
    })

    it('leaves a claimed sandbox whole or nothing of it, and a repeated create finds the same', async () => {
      const parker = await world.startServer({ env })
      let number = 0
      await drill(
        blow,
        {
          betweenSteps: true,
          env,
          prepare: async () => {
            await parker.ctx.pool.fill()
            await parker.ctx.pool.settled()
            const parked = await findParked(world)
            number += 1
            return { parked, request: { body: { templateID: 'base', timeout: 600 }, headers: { 'idempotency-key': `claim-${number}` } } }
          },
          operate: async (dying, { parked, request }) => {
            const answer = await dying.call('POST', '/v2/sandboxes', request)
            expect(idOf(answer)).toBe(parked)
            return answer
          },
          check: async ({ request }, { answered }) => {
            const left = await listed()
            expect(left.length).toBeLessThanOrEqual(1)
            const again = await other.call('POST', '/v2/sandboxes', request)
            expect(again.status).toBe(201)
            expect(left).toEqual(left.length === 0 ? [] : [again.body.sandboxID])
            if (answered !== undefined) expect(idOf(answered)).toBe(again.body.sandboxID)
            await expectKilled(again.body.sandboxID)
          },
        },
        2,
      )
    })
  })

  describe('of a build', () => {
    it('leaves a build that another server finishes, once', async () => {
      await drill(
        blow,
        {
          betweenSteps: false,
          prepare: () => queueBuild(world),
          operate: async (dying, buildId, isCut) => {
            await using worker = buildWorkerOf(dying)
            await waitFor('the end of the build', async () => {
              worker.onRefresh()
              return (await isUploaded(world, buildId)) || (isCut() && (await isClaimed(world, buildId)) && worker.running === 0)
            })
          },
          check: async (buildId) => {
            const { status, image, log_count: count } = await findBuild(world, buildId)
            expect(status).toBe('uploaded')
            expect(world.engine.images.has(image ?? '')).toBe(true)
            const messages = await messagesOf(world, buildId)
            expect(messages).toHaveLength(count)
            expect(messages.filter((message) => message.startsWith('Build finished'))).toHaveLength(1)
            const built = await world.database.db.selectFrom('event').select('data').where('kind', '=', 'template.built').execute()
            expect(built.filter(({ data }) => (data as { buildId?: string }).buildId === buildId)).toHaveLength(1)
          },
        },
        5,
      )
    })

    it('or of its start leaves a build that waits, or one that is built', async () => {
      let number = 0
      await drill(
        blow,
        {
          betweenSteps: false,
          prepare: async () => {
            const { status, body } = await api.call('POST', '/v3/templates', { body: { name: `drill-${(number += 1)}` } })
            expect(status).toBe(202)
            return body as { templateID: string; buildID: string }
          },
          operate: (dying, { templateID, buildID }) =>
            dying.call('POST', `/v2/templates/${templateID}/builds/${buildID}`, { body: { fromImage: 'debian', steps: [] } }),
          check: async ({ templateID, buildID }, { answered }) => {
            const { body } = await api.call('GET', `/templates/${templateID}/builds/${buildID}/status`)
            if (answered === undefined) expect(body.status).toBeOneOf(['waiting', 'ready'])
            else expect(body.status).toBe('ready')
            const again = await other.call('POST', `/v2/templates/${templateID}/builds/${buildID}`, {
              body: { fromImage: 'debian', steps: [] },
            })
            expect(again.status).toBe(body.status === 'waiting' ? 202 : 400)
            await world.database.db.deleteFrom('build_job').execute()
            expect((await api.call('DELETE', `/templates/${templateID}`)).status).toBe(204)
          },
        },
        1,
      )
    })
  })
})
