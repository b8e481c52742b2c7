import type { LogLevel } from '@sandyard/db/schema/build-log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendLog } from '../src/builds/queue/append-log.ts'
import { settleBuild } from '../src/builds/queue/settle-build.ts'
import { createBuildsWorld, type BuildsWorld, type Caller } from './support/build-callers.ts'

let builds: BuildsWorld
let acme: Caller
let stranger: Caller
let templateID: string
let buildID: string

const NO_UUID = '00000000-0000-4000-8000-000000000000'
const BASE_MS = Date.UTC(2020, 0, 1)
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Line n has its own millisecond; the levels rotate, and every tenth line belongs to step 2. */
const lines = Array.from({ length: 250 }, (_, n) => ({
  time: new Date(BASE_MS + n),
  level: LEVELS[n % 4] ?? 'info',
  message: `line ${n}`,
  ...(n % 10 === 3 && { step: '2' }),
}))

beforeAll(async () => {
  builds = await createBuildsWorld()
  ;({ acme, stranger } = builds)
  ;({ templateID, buildID } = (await acme.withKey('POST', '/v3/templates', { name: 'logged' })).body)
})
afterAll(() => builds[Symbol.asyncDispose]())

const write = () => builds.world.database.transaction((tx) => appendLog(tx, buildID, lines))
const get = (what: string, caller = acme) => caller.withKey('GET', `/templates/${templateID}/builds/${buildID}/${what}`)
const messages = (entries: { message: string }[]) => entries.map(({ message }) => message)

describe('[GET /templates/{templateID}/builds/{buildID}/status]', () => {
  it('returns no log while the build waits, then pages of it', async () => {
    expect((await get('status')).body).toEqual({ templateID, buildID, status: 'waiting', logEntries: [], logs: [] })
    await acme.withKey('POST', `/v2/templates/${templateID}/builds/${buildID}`, { fromImage: 'a' })
    await write()
    const seen: string[] = []
    for (let isOver = false; !isOver;) {
      const { status, body } = await get(`status?logsOffset=${seen.length}`)
      expect([status, body.status, body.logs]).toEqual([200, 'building', []])
      expect(body).not.toHaveProperty('reason')
      seen.push(...messages(body.logEntries))
      isOver = body.logEntries.length === 0
    }
    expect(seen).toEqual(lines.map(({ message }) => message))
  })

  it('returns the time, level and step of each entry', async () => {
    expect((await get('status?logsOffset=2&limit=2')).body.logEntries).toEqual([
      { timestamp: new Date(BASE_MS + 2).toISOString(), level: 'warn', message: 'line 2' },
      { timestamp: new Date(BASE_MS + 3).toISOString(), level: 'error', message: 'line 3', step: '2' },
    ])
  })

  it.each([
    ['limit=0', []],
    ['logsOffset=250', []],
    ['logsOffset=2147483647', []],
    ['logsOffset=249&limit=100', ['line 249']],
    ['level=error&limit=2', ['line 3', 'line 7']],
    ['level=warn&logsOffset=2&limit=3', ['line 6', 'line 7', 'line 10']],
    ['level=info&limit=4', ['line 1', 'line 2', 'line 3', 'line 5']],
    ['level=debug&logsOffset=1&limit=1', ['line 1']],
    ['level=error&logsOffset=62', []],
  ])('answers %s', async (query, expected) => {
    expect(messages((await get(`status?${query}`)).body.logEntries)).toEqual(expected)
  })

  it.each([
    'limit=101',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'logsOffset=-1',
    'logsOffset=2147483648',
    'level=trace',
    'level=',
    'level=ERROR',
  ])('refuses %s', async (query) => {
    for (const what of ['status', 'logs']) {
      if (query.startsWith('logsOffset') && what === 'logs') continue
      expect((await get(`${what}?${query}`)).body).toEqual({ code: 400, message: expect.stringMatching(/^validation error: /) })
    }
  })

  it('returns the reason, step and warnings of a failed build', async () => {
    const failure = { kind: 'failed', message: "failed to run command 'x': exit status 1", step: '2' } as const
    await builds.world.database.transaction((tx) => settleBuild(tx, buildID, failure))
    const { body } = await get('status?logsOffset=250')
    expect(body).toMatchObject({ status: 'error', reason: { message: failure.message, step: '2' } })
    const warned = messages(body.reason.logEntries)
    expect(warned.slice(0, 3)).toEqual(['line 3', 'line 23', 'line 43'])
    expect(warned.at(-1)).toContain(failure.message)
    expect(body.logEntries).toHaveLength(1)
    expect((await get('status?logsOffset=251')).body.logEntries).toEqual([])
  })

  it('returns a reason only for a failed build, and a step only if one failed', async () => {
    const first = (await acme.withKey('POST', '/v3/templates', { name: 'ended' })).body
    const second = (await acme.withKey('POST', '/v3/templates', { name: 'ended' })).body
    const status = async ({ buildID }: { buildID: string }) =>
      (await acme.withKey('GET', `/templates/${first.templateID}/builds/${buildID}/status`)).body
    expect((await status(first)).reason).toEqual({
      message: 'The build was canceled because it was superseded by a newer one.',
      logEntries: [],
    })
    const result = { image: 'ended:1', defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
    await builds.world.database.transaction((tx) => settleBuild(tx, second.buildID, { kind: 'ready', result }))
    expect(await status(second)).toMatchObject({ status: 'ready', logEntries: [{ level: 'info' }], logs: [] })
    expect(await status(second)).not.toHaveProperty('reason')
  })

  it('also returns text lines for first-generation builds', async () => {
    const made = (await acme.withToken('POST', '/templates', { dockerfile: 'FROM a' })).body
    await acme.withToken('POST', `/templates/${made.templateID}/builds/${made.buildID}`)
    await builds.world.database.transaction((tx) => appendLog(tx, made.buildID, lines.slice(0, 1)))
    const { body } = await acme.withToken('GET', `/templates/${made.templateID}/builds/${made.buildID}/status`)
    expect(body).toMatchObject({ status: 'building', logEntries: [{ message: 'line 0' }], logs: ['[2020-01-01T00:00:00.000Z] line 0\n'] })
  })

  it.each([
    ['waiting', 'waiting'],
    ['pending', 'waiting'],
    ['in_progress', 'building'],
    ['building', 'building'],
    ['snapshotting', 'building'],
    ['uploaded', 'ready'],
    ['success', 'ready'],
    ['ready', 'ready'],
    ['failed', 'error'],
  ] as const)('maps status %s to %s', async (status, wire) => {
    const { db } = builds.world.database
    const made = (await acme.withKey('POST', '/v3/templates', { name: 'states' })).body
    await db.updateTable('build').set({ status, image: 'states:1' }).where('build_id', '=', made.buildID).execute()
    const { body } = await acme.withKey('GET', `/templates/${made.templateID}/builds/${made.buildID}/status`)
    expect(body.status).toBe(wire)
    if (wire === 'error') expect(body.reason).toEqual({ message: expect.stringContaining('An internal error occurred'), logEntries: [] })
  })

  it('returns the status of a build of a deleted template', async () => {
    const made = (await acme.withKey('POST', '/v3/templates', { name: 'deleted' })).body
    await acme.withKey('DELETE', `/templates/${made.templateID}`)
    const { body } = await acme.withKey('GET', `/templates/${made.templateID}/builds/${made.buildID}/status`)
    expect(body).toMatchObject({ status: 'error', reason: { message: 'build was cancelled' } })
  })
})

describe('[GET /templates/{templateID}/builds/{buildID}/logs]', () => {
  it.each([
    ['limit=2', ['line 0', 'line 1']],
    ['limit=0', []],
    [`cursor=${BASE_MS + 100}&limit=2`, ['line 100', 'line 101']],
    [`cursor=${BASE_MS + 100}&limit=2&direction=forward&source=temporary`, ['line 100', 'line 101']],
    [`cursor=${BASE_MS + 100}&limit=2&direction=backward&source=persistent`, ['line 100', 'line 99']],
    [`cursor=${BASE_MS}&direction=backward`, expect.arrayContaining(['line 0'])],
    [`cursor=${BASE_MS + 248}&level=error`, []],
    [`cursor=${BASE_MS + 100}&level=warn&limit=2`, ['line 102', 'line 103']],
    ['cursor=8640000000000000', []],
  ])('answers %s', async (query, expected) => {
    const { status, body } = await get(`logs?${query}`)
    // The last line of the build has the time of the test.
    expect([status, messages(body.logs).filter((message) => message.startsWith('line'))]).toEqual([200, expected])
  })

  it('returns 100 entries by default', async () => {
    expect((await get('logs')).body.logs).toHaveLength(100)
  })

  it.each(['cursor=-1', 'cursor=x', 'cursor=99999999999999999999', 'direction=up', 'source=x'])('refuses %s', async (query) => {
    expect((await get(`logs?${query}`)).body).toEqual({ code: 400, message: expect.stringMatching(/^validation error: /) })
  })
})

describe.each(['status', 'logs'])('%s', (what) => {
  it('runs its checks in the documented order', async () => {
    const at = async (template: string, build: string, caller = acme) =>
      (await caller.withKey('GET', `/templates/${template}/builds/${build}/${what}`)).body
    expect(await at('%00', 'x')).toEqual({ code: 400, message: 'Invalid build id' })
    for (const id of [templateID, 'logged', '%00'])
      expect(await at(id, NO_UUID)).toEqual({ code: 400, message: `Build '${NO_UUID}' not found` })
    expect(await at('logged', buildID)).toEqual({ code: 400, message: `Build '${buildID}' not found` })
    expect(await at(templateID, buildID, stranger)).toEqual({
      code: 403,
      message: `You don't have access to this sandbox template (${templateID})`,
    })
    const url = `/templates/${templateID}/builds/${buildID}/${what}`
    expect((await stranger.withToken('GET', url)).status).toBe(403)
    expect((await acme.withToken('GET', url)).status).toBe(200)
    expect((await builds.api.call('GET', url, { apiKey: null })).status).toBe(401)
  })
})
