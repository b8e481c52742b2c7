import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
/** Oldest first. The last two started at the same instant. */
let ids: string[] = []

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  for (const metadata of [{ app: 'a b', tier: 'x&y' }, { app: 'a b' }, {}, undefined]) {
    const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...(metadata && { metadata }) } })
    ids.push(body.sandboxID)
  }
  const [a = '', b = '', ...same] = ids
  same.sort()
  ids = [a, b, ...same]
  for (const [index, id] of ids.entries()) {
    await world.database.db
      .updateTable('sandbox')
      .set({ started_at: sql<Date>`'2026-01-01T00:00:00Z'::timestamptz + make_interval(mins => ${Math.min(index, 2)})` })
      .where('sandbox_id', '=', id)
      .execute()
  }
  const stranger = await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })
  await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, apiKey: stranger.credentials?.apiKey ?? '' })
})
afterAll(() => world[Symbol.asyncDispose]())

const list = async (query = '', path = '/v2/sandboxes'): Promise<{ ids: string[]; next: string | undefined; total: unknown }> => {
  const { body, headers } = await api.call('GET', `${path}?${query}`)
  return {
    ids: body.map(({ sandboxID }: { sandboxID: string }) => sandboxID),
    next: headers['x-next-token'] as string | undefined,
    total: headers['x-total-running'],
  }
}

/** Newest first; for equal start times the smaller id first. */
const descending = (): string[] => [ids[2], ids[3], ids[1], ids[0]].map(String)

describe('[GET /v2/sandboxes]', () => {
  it.each(['desc', 'asc'])('pages through all sandboxes, %s', async (order) => {
    const seen: string[] = []
    let token = ''
    do {
      const page = await list(`order=${order}&limit=3${token}`)
      expect(page.total).toBe('4')
      seen.push(...page.ids)
      token = page.next === undefined ? '' : `&nextToken=${encodeURIComponent(page.next)}`
    } while (token !== '')
    expect(seen).toEqual(order === 'desc' ? descending() : descending().toReversed())
  })

  it('returns no token on a full last page', async () => {
    expect((await list('limit=4')).next).toBeUndefined()
    expect((await list('limit=2')).next).toBeDefined()
  })

  it.each<[string, string, number[]]>([
    ['all states', '', [2, 3, 1, 0]],
    ['running', 'state=running', [2, 3, 1, 0]],
    ['both', 'state=running%2Cpaused', [2, 3, 1, 0]],
    ['paused', 'state=paused', []],
    ['metadata as JS sends it', `metadata=${encodeURIComponent(`app=${encodeURIComponent('a%20b')}`)}`, [1, 0]],
    ['two pairs', `metadata=${encodeURIComponent('app=a%2520b&tier=x%2526y')}`, [0]],
    ['metadata without a match', 'metadata=app%3DA%2520b', []],
    ['template', 'template=base', [2, 3, 1, 0]],
    ['e2bdev/base', 'template=e2bdev%2Fbase', [2, 3, 1, 0]],
    ['unknown template', 'template=nothing', []],
    ['start, inclusive', 'startedAfter=2026-01-01T00:01:00Z', [2, 3, 1]],
    ['start, with an offset', 'startedAfter=2026-01-01T02:01:00.000001%2B02:00', [2, 3]],
  ])('filters by %s', async (_name, query, expected) => {
    expect((await list(query)).ids).toEqual(expected.map((index) => ids[index]))
  })

  it('counts running sandboxes if they are listed', async () => {
    expect((await list('state=paused')).total).toBeUndefined()
    expect((await list('template=nothing')).total).toBe('0')
    expect((await list('metadata=app%3Da%252520b')).total).toBe('2')
  })

  it.each([
    ['state=sleeping', /^validation error/],
    ['state=', /^validation error/],
    ['order=up', /^validation error/],
    ['limit=101', /^validation error/],
    ['startedAfter=2026-02-30T00:00:00Z', /^validation error/],
    ['nextToken=nonsense', /^Invalid next token$/],
    ['metadata=a', /^Error parsing metadata: error parsing metadata: invalid key value pair$/],
    ['template=base:v1', /^Invalid template: tags are not supported here because sandboxes are not tag-scoped$/],
    ['template=a%20b', /^Invalid template: invalid template ID: a b$/],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await api.call('GET', `/v2/sandboxes?${query}`)
    expect([status, body.code]).toEqual([400, 400])
    expect(body.message).toMatch(message)
  })

  it('refuses a token of the other sort order', async () => {
    const { next } = await list('limit=1')
    const { body } = await api.call('GET', `/v2/sandboxes?order=asc&nextToken=${String(next)}`)
    expect(body).toEqual({ code: 400, message: 'Invalid next token' })
  })

  it('returns the fields that every client reads, and no secrets', async () => {
    const { body } = await api.call('GET', '/v2/sandboxes?limit=1')
    expect(Object.keys(body[0]).sort()).toEqual(
      'alias clientID cpuCount diskSizeMB endAt envdVersion memoryMB metadata sandboxID startedAt state templateID volumeMounts'.split(' '),
    )
  })
})

describe('[GET /sandboxes]', () => {
  it('returns all running sandboxes on one page, filtered by metadata', async () => {
    expect(await list('', '/sandboxes')).toEqual({ ids: descending(), next: undefined, total: undefined })
    expect((await list('metadata=app%3Da%252520b', '/sandboxes')).ids).toEqual([ids[1], ids[0]])
  })
})

describe('sandboxes in transition', () => {
  it('are listed as paused while pausing, and not listed while starting, ending or snapshotting', async () => {
    for (const [state, listed] of [
      ['pausing', 'paused'],
      ['killing', undefined],
      ['snapshotting', undefined],
    ] as const) {
      await world.database.db
        .updateTable('sandbox')
        .set({ state })
        .where('sandbox_id', '=', ids[0] ?? '')
        .execute()
      const { body } = await api.call('GET', '/v2/sandboxes')
      expect(body.find(({ sandboxID }: { sandboxID: string }) => sandboxID === ids[0])?.state).toBe(listed)
    }
  })
})
