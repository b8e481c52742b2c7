import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { ADMIN_TOKEN, createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let owner: Caller
let stranger: Caller
/** By name, in the order of their registration. */
const made = new Map<string, { templateID: string; buildID: string }>()

const get = (path: string, caller: Caller = owner): Promise<Answer> => caller.withKey('GET', `/dashboard-api${path}`)
const read = async (path: string, caller: Caller = owner): Promise<Answer['body']> => {
  const answer = await get(path, caller)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const madeOf = (name: string) => made.get(name) ?? { templateID: '', buildID: '' }

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  owner = await addCaller(world, api, 'Owners')
  stranger = await addCaller(world, api, 'Strangers')
  for (const name of ['backend-first', 'backend-second', 'backend-third']) {
    const { body } = await owner.withKey('POST', '/v3/templates', { name, tags: ['default', 'v1'] })
    made.set(name, body)
  }
  for (const name of ['backend-first', 'backend-second']) {
    const { templateID, buildID } = madeOf(name)
    await owner.withKey('POST', `/v2/templates/${templateID}/builds/${buildID}`, { fromImage: 'debian', steps: [] })
    await waitFor('the build', async () => (await read(`/builds/${buildID}`)).status === 'success')
  }
  await world.database.db
    .updateTable('build')
    .set({ status: 'failed', reason_message: 'the step has failed', finished_at: new Date() })
    .where('build_id', '=', madeOf('backend-third').buildID)
    .execute()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('builds of the dashboard backend', () => {
  it('[GET /dashboard-api/builds] are listed newest first, in pages, by status and by template', async () => {
    const ids = ['backend-third', 'backend-second', 'backend-first'].map((name) => madeOf(name).buildID)
    const all = await read('/builds')
    expect(all.data.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(all.nextCursor).toBeNull()
    const slug = `${owner.slug}/backend-third`
    expect(all.data[0]).toEqual({
      id: ids[0],
      template: slug,
      templateId: madeOf('backend-third').templateID,
      status: 'failed',
      statusMessage: 'the step has failed',
      createdAt: expect.any(String),
      finishedAt: expect.any(String),
    })
    expect(all.data[1]).toMatchObject({ status: 'success', statusMessage: null })
    const first = await read('/builds?limit=2')
    const second = await read(`/builds?limit=2&cursor=${first.nextCursor}`)
    expect([...first.data, ...second.data]).toEqual(all.data)
    expect(second.nextCursor).toBeNull()
    expect((await read('/builds?statuses=failed')).data).toEqual([all.data[0]])
    expect((await read('/builds?statuses=success,building')).data).toEqual(all.data.slice(1))
    for (const wanted of [
      madeOf('backend-second').templateID,
      ids[1],
      'backend-second',
      encodeURIComponent(`${owner.slug}/backend-second`),
    ]) {
      expect((await read(`/builds?build_id_or_template=${wanted}`)).data, wanted).toEqual([all.data[1]])
      expect((await read(`/builds?statuses=failed&build_id_or_template=${wanted}`)).data, wanted).toEqual([])
    }
    for (const wanted of [ids[1], madeOf('backend-second').templateID, 'no-such-template', randomUUID()]) {
      expect(await read(`/builds?build_id_or_template=${wanted}`, stranger), wanted).toEqual({ data: [], nextCursor: null })
    }
    for (const query of ['statuses=ready', 'cursor=x', 'limit=x']) {
      expect(await get(`/builds?${query}`), query).toMatchObject({ status: 400, body: { code: 400, message: expect.any(String) } })
    }
  })

  it('[GET /dashboard-api/builds/statuses] are those of the ids, and none of another team', async () => {
    const ids = [...made.values()].map(({ buildID }) => buildID)
    const { buildStatuses } = await read(`/builds/statuses?build_ids=${[...ids, randomUUID()].join(',')}`)
    expect(new Map(buildStatuses.map(({ id, status }: { id: string; status: string }) => [id, status]))).toEqual(
      new Map([
        [ids[0], 'success'],
        [ids[1], 'success'],
        [ids[2], 'failed'],
      ]),
    )
    expect(buildStatuses.find(({ id }: { id: string }) => id === ids[2])).toEqual({
      id: ids[2],
      status: 'failed',
      statusMessage: 'the step has failed',
      finishedAt: expect.any(String),
    })
    expect(await read(`/builds/statuses?build_ids=${ids.join(',')}`, stranger)).toEqual({ buildStatuses: [] })
    const tooMany = Array.from({ length: 101 }, () => randomUUID()).join(',')
    for (const query of ['', '?build_ids=', '?build_ids=x', `?build_ids=${tooMany}`]) {
      expect((await get(`/builds/statuses${query}`)).status, query).toBe(400)
    }
  })

  it('[GET /dashboard-api/builds/{buildID}] is one with the names of its template', async () => {
    const { buildID } = madeOf('backend-first')
    expect(await read(`/builds/${buildID}`)).toEqual({
      names: [`${owner.slug}/backend-first`],
      createdAt: expect.any(String),
      finishedAt: expect.any(String),
      status: 'success',
      statusMessage: null,
    })
    for (const path of [buildID, randomUUID(), 'x']) {
      expect(await get(`/builds/${path}`, stranger), path).toMatchObject({ status: 404, body: { code: 404 } })
    }
  })
})

describe('the record of a sandbox', () => {
  it('[GET /dashboard-api/sandboxes/{sandboxID}/record] is there while it lives and after its end, for its team', async () => {
    const { body } = await owner.withKey('POST', '/v2/sandboxes', { templateID: 'base' })
    const path = `/sandboxes/${body.sandboxID}/record`
    const living = await read(path)
    expect(living).toEqual({
      templateID: body.templateID,
      alias: 'base',
      sandboxID: body.sandboxID,
      startedAt: expect.any(String),
      stoppedAt: null,
      domain: body.domain,
      cpuCount: expect.any(Number),
      memoryMB: expect.any(Number),
      diskSizeMB: expect.any(Number),
      retentionExpired: false,
    })
    expect((await get(path, stranger)).status).toBe(404)
    await owner.withKey('DELETE', `/sandboxes/${body.sandboxID}`)
    await waitFor('its end', async () => (await read(path)).stoppedAt !== null)
    expect(await read(path)).toEqual({ ...living, stoppedAt: expect.any(String) })
    expect((await get(path, stranger)).status).toBe(404)
    const long = new Date(Date.now() - 400 * 24 * 3_600_000)
    await world.database.db.updateTable('sandbox_history').set({ ended_at: long }).where('sandbox_id', '=', body.sandboxID).execute()
    expect(await read(path)).toMatchObject({ stoppedAt: long.toISOString(), retentionExpired: true })
    expect((await get('/sandboxes/iunknown/record')).body).toMatchObject({ code: 404, message: expect.stringContaining('iunknown') })
  })
})

describe('templates of the dashboard backend', () => {
  const namesOf = (body: Answer['body']): string[] => body.data.map(({ names }: { names: string[] }) => names[0] ?? '')
  const own = (name: string): string => `${owner.slug}/${name}`

  it('[GET /dashboard-api/templates] are searched, sorted and paged, with the default ones', async () => {
    const ascending = [own('backend-first'), own('backend-second'), own('backend-third')]
    expect(namesOf(await read('/templates?search=backend&sort=created_at_asc'))).toEqual(ascending)
    expect(namesOf(await read('/templates?search=BACKEND&sort=created_at_desc'))).toEqual(ascending.toReversed())
    expect(namesOf(await read('/templates?search=backend&sort=name_asc'))).toEqual(ascending)
    for (const sort of ['name_desc', 'cpu_count_asc', 'memory_mb_desc', 'updated_at_asc', 'created_at_asc']) {
      const whole = namesOf(await read(`/templates?sort=${sort}`))
      expect(whole.length).toBeGreaterThan(3)
      const pages: string[] = []
      let cursor = ''
      do {
        const page = await read(`/templates?sort=${sort}&limit=2&cursor=${cursor}`)
        expect(page.data.length).toBeLessThanOrEqual(2)
        pages.push(...namesOf(page))
        cursor = page.nextCursor ?? ''
      } while (cursor !== '')
      expect(pages, sort).toEqual(whole)
    }
    const [template] = (await read('/templates?search=backend-first')).data
    expect(template).toMatchObject({
      templateID: madeOf('backend-first').templateID,
      buildID: madeOf('backend-first').buildID,
      aliases: ['backend-first'],
      public: false,
      isDefault: false,
      defaultDescription: null,
    })
    expect(Object.keys(template)).not.toContain('buildStatus')
    expect(namesOf(await read('/templates?public=true'))).not.toContain(own('backend-first'))
    expect(namesOf(await read('/templates?public=false'))).toContain(own('backend-first'))
    expect(namesOf(await read('/templates?search=backend', stranger))).toEqual([])
    expect(namesOf(await read('/templates', stranger))).toContain('base')
    const { nextCursor } = await read('/templates?sort=name_asc&limit=1')
    for (const query of ['sort=size_asc', 'cursor=x', `sort=name_desc&cursor=${nextCursor}`, 'public=maybe']) {
      expect(await get(`/templates?${query}`), query).toMatchObject({ status: 400, body: { code: 400 } })
    }
  })

  it('[GET /dashboard-api/templates/defaults] are those of the server, without the use that others make of them', async () => {
    const { templates } = await read('/templates/defaults')
    const base = templates.find(({ aliases }: { aliases: { alias: string }[] }) => aliases.some(({ alias }) => alias === 'base'))
    expect(base).toEqual({
      id: expect.any(String),
      aliases: [{ alias: 'base', namespace: null }],
      buildId: expect.any(String),
      ramMb: expect.any(Number),
      vcpu: expect.any(Number),
      totalDiskSizeMb: expect.any(Number),
      envdVersion: expect.any(String),
      createdAt: expect.any(String),
      public: true,
      buildCount: 0,
      spawnCount: 0,
    })
  })

  it('[GET /dashboard-api/templates/{templateID}] is one of the team', async () => {
    const { templateID } = madeOf('backend-second')
    const [listed] = (await read('/templates?search=backend-second')).data
    expect(await read(`/templates/${templateID}`)).toEqual(listed)
    expect((await get(`/templates/${templateID}`, stranger)).status).toBe(403)
    expect((await get('/templates/nosuchtemplate')).status).toBe(404)
  })

  it.each([
    '[GET /dashboard-api/templates/{templateID}/tags/groups] groups',
    '[GET /dashboard-api/templates/{templateID}/tags/count] count',
    '[GET /dashboard-api/templates/{templateID}/tags/exists] exists?tag=v1',
    '[GET /dashboard-api/templates/{templateID}/tags/{tag}/assignments] v1/assignments',
  ])('%s is that of the control plane', async (title) => {
    const path = `/templates/${madeOf('backend-first').templateID}/tags/${title.split('] ')[1]}`
    const answer = await get(path)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toEqual((await owner.withKey('GET', path)).body)
    expect(answer.text).not.toMatch(/^\{"(?:total":0|exists":false|tags":\[\]|data":\[\])/)
    expect((await get(path, stranger)).status).toBe(404)
  })
})

it('the dashboard backend takes a token with a team and the admin token with one, and no cookie of a dashboard', async () => {
  const team = { 'x-team-id': owner.teamId }
  const call = async (headers: Record<string, string>) => (await api.call('GET', '/dashboard-api/builds', { apiKey: null, headers })).status
  expect(await call({ ...team, authorization: `Bearer ${owner.accessToken}` })).toBe(200)
  expect(await call({ ...team, 'x-admin-token': ADMIN_TOKEN })).toBe(200)
  expect(await call({ ...team, authorization: `Bearer ${stranger.accessToken}` })).toBe(401)
  expect(await call({ cookie: `sandyard=${'a'.repeat(43)}` })).toBe(401)
})
