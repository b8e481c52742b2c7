import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

const get = (url: string): Promise<Answer> => api.call('GET', url)
const create = async (body: object = {}): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })).body.sandboxID
const idsOf = ({ body }: Answer): string[] => body.map(({ sandboxID }: { sandboxID: string }) => sandboxID)

const STARTED = '2030-01-01T00:00:00.000Z'
const ENDS = '2030-01-01T00:10:00.000Z'
const PAUSED = '2030-01-01T00:05:00.000Z'
const CHANGED = '2030-01-01T00:06:00.000Z'

/** A row as the lifecycle leaves it in this state. */
async function setState(id: string, state: SandboxState, keep?: 'memory' | 'files', started_at = STARTED): Promise<void> {
  const isPaused = state === 'paused' || state === 'resuming'
  const pause = { pause_handle: isPaused ? '{}' : null, paused_at: isPaused ? PAUSED : null, pause_keep: keep ?? null }
  await world.database.db
    .updateTable('sandbox')
    .set({ state, started_at, expires_at: ENDS, state_changed_at: CHANGED, ...pause } as never)
    .where('sandbox_id', '=', id)
    .execute()
}

interface Case {
  readonly state: SandboxState
  readonly keep?: 'memory' | 'files'
  /** What GET answers; undefined for 404. */
  readonly shown?: 'running' | 'paused'
  /** The state that lists it. */
  readonly listed?: 'running' | 'paused'
  readonly endAt?: string
  readonly pauseMode?: string
}

const CASES: readonly Case[] = [
  { state: 'running', shown: 'running', listed: 'running', endAt: ENDS },
  { state: 'snapshotting', shown: 'running', endAt: ENDS },
  { state: 'pausing', keep: 'memory', shown: 'paused', listed: 'paused', endAt: CHANGED },
  { state: 'paused', keep: 'memory', shown: 'paused', listed: 'paused', endAt: PAUSED, pauseMode: 'full' },
  { state: 'paused', keep: 'files', shown: 'paused', listed: 'paused', endAt: PAUSED, pauseMode: 'filesystem' },
  { state: 'resuming', keep: 'memory', shown: 'paused', listed: 'paused', endAt: PAUSED },
  { state: 'killing' },
  { state: 'starting' },
]

describe('[GET /sandboxes/{sandboxID}] [GET /sandboxes] [GET /v2/sandboxes] a sandbox', () => {
  it.each(CASES)(
    '$state (keeps $keep) is shown as $shown and listed as $listed',
    async ({ state, keep, shown, listed, endAt, pauseMode }) => {
      const metadata = { of: `${state}-${keep}` }
      const id = await create({ metadata, autoPause: true, network: { allowPublicTraffic: false } })
      await setState(id, state, keep)
      const detail = await get(`/sandboxes/${id}`)
      const item = { sandboxID: id, state: listed, startedAt: STARTED, endAt, metadata, volumeMounts: [] }
      if (shown === undefined) {
        expect(detail.body).toEqual({ code: 404, message: `Sandbox "${id}" doesn't exist or you don't have access to it` })
      } else {
        expect(detail.body).toMatchObject({
          ...item,
          state: shown,
          network: { allowPublicTraffic: false, allowOut: [], denyOut: [] },
          lifecycle: { autoResume: false, onTimeout: 'pause' },
          envdAccessToken: expect.stringMatching(/^[0-9a-f]{64}$/),
        })
        expect(detail.body.pauseMode).toBe(pauseMode)
        expect('pauseMode' in detail.body).toBe(pauseMode !== undefined)
      }
      const filter = `metadata=${encodeURIComponent(new URLSearchParams(metadata).toString())}`
      for (const wanted of ['running', 'paused'] as const) {
        const { body } = await get(`/v2/sandboxes?state=${wanted}&${filter}`)
        expect(body).toEqual(wanted === listed ? [expect.objectContaining(item)] : [])
      }
      expect(idsOf(await get(`/sandboxes?${filter}`))).toEqual(listed === 'running' ? [id] : [])
      await world.database.db.deleteFrom('sandbox').where('sandbox_id', '=', id).execute()
    },
  )

  it('that is paused has a null only where clients accept one', async () => {
    const nullable = ['envdAccessToken', 'allowInternetAccess', 'domain']
    const id = await create({ secure: false })
    await setState(id, 'paused', 'memory')
    const { body: detail } = await get(`/sandboxes/${id}`)
    const { body: listed } = await get('/v2/sandboxes?state=paused')
    const nulls = (value: object): string[] => Object.entries(value).flatMap(([key, item]) => (item === null ? [key] : []))
    expect(nulls(detail).toSorted()).toEqual(nullable.toSorted())
    expect(nulls(detail.network)).toEqual([])
    expect(listed.flatMap(nulls)).toEqual([])
    const required = [
      'templateID',
      'sandboxID',
      'clientID',
      'startedAt',
      'endAt',
      'cpuCount',
      'memoryMB',
      'diskSizeMB',
      'state',
      'envdVersion',
    ]
    expect(Object.keys(listed[0])).toEqual(expect.arrayContaining(required))
    await world.database.db.deleteFrom('sandbox').where('sandbox_id', '=', id).execute()
  })
})

describe('[GET /v2/sandboxes] pages of running and paused sandboxes', () => {
  it('are ordered by the start of the last run, and have each once', async () => {
    const made: string[] = []
    for (let at = 0; at < 6; at += 1) {
      const id = await create()
      // Two and two have the same start.
      await setState(id, at % 2 === 0 ? 'paused' : 'running', 'memory', `2030-01-01T0${Math.floor(at / 2)}:00:00.000Z`)
      made.push(id)
    }
    const pairs = [0, 2, 4].map((at) => made.slice(at, at + 2).toSorted())
    for (const [order, expected] of [
      ['asc', pairs.flatMap((pair) => pair.toReversed())],
      ['desc', pairs.toReversed().flat()],
    ] as const) {
      const seen: string[] = []
      let token: string | undefined
      do {
        const page = await get(
          `/v2/sandboxes?order=${order}&limit=2${token === undefined ? '' : `&nextToken=${encodeURIComponent(token)}`}`,
        )
        seen.push(...idsOf(page))
        expect(page.headers['x-total-running']).toBe('3')
        token = page.headers['x-next-token'] as string | undefined
      } while (token !== undefined)
      expect(seen).toEqual(expected)
    }
    const after = idsOf(await get('/v2/sandboxes?startedAfter=2030-01-01T01:00:00Z&state=paused'))
    expect(after.toSorted()).toEqual([...made.slice(2, 3), ...made.slice(4, 5)].toSorted())
  })
})
