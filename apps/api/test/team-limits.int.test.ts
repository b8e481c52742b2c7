import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { waitFor, type Answer, type Server } from './support/control-plane.ts'
import { useLimitedTeam } from './support/limited-team.ts'

const team = useLimitedTeam()
const { setLimits, create } = team

const createOn = (server: Server): Promise<Answer> =>
  server.call('POST', '/v2/sandboxes', { apiKey: team.caller.apiKey, body: { templateID: 'base' } })

const tooMany = (limit: number, source: string): string =>
  `you have reached the maximum number of concurrent E2B sandboxes (${limit}). If you need more, please visit 'https://e2b.dev/docs/billing'. On this server the limit is ${source}.`
const OF_TEAM = 'that of the team: see `sandyard limits`'

describe('the sandboxes of a team', () => {
  it('are limited by its row instead of the setting, at once on all servers', async () => {
    await setLimits({ max_sandboxes: 1 })
    expect((await create()).status).toBe(201)
    const refused = await createOn(team.other)
    expect(refused.body).toEqual({ code: 429, message: tooMany(1, OF_TEAM) })
    expect(refused.headers['retry-after']).toBe('1')
    await setLimits({ max_sandboxes: 2 })
    expect((await createOn(team.other)).status).toBe(201)
    expect((await create()).status).toBe(429)
    await setLimits({ max_sandboxes: null })
    expect((await create()).status).toBe(201)
  })

  it('are limited together over two servers', async () => {
    await setLimits({ max_sandboxes: 4 })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? create() : createOn(team.other))))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...fill(4, 201), ...fill(8, 429)])
  })

  it('are limited at resume, connect, wake and fork', async () => {
    const { sandboxID } = (await create({ autoResume: { enabled: true }, autoPause: true })).body
    expect((await team.caller.withKey('POST', `/sandboxes/${sandboxID}/pause`)).status).toBe(204)
    await setLimits({ max_sandboxes: 1 })
    const running = (await create()).body.sandboxID
    for (const operation of ['resume', 'connect']) {
      const answer = await team.caller.withKey('POST', `/sandboxes/${sandboxID}/${operation}`, { timeout: 60 })
      expect([answer.body, answer.headers['retry-after']]).toEqual([{ code: 429, message: tooMany(1, OF_TEAM) }, '1'])
    }
    await expectForkLimit(running, 1)
    await setLimits({ max_sandboxes: 2 })
    expect((await team.caller.withKey('POST', `/sandboxes/${sandboxID}/resume`, { timeout: 60 })).status).toBe(201)
    const { body: forks } = await team.caller.withKey('POST', `/sandboxes/${running}/fork`, { count: 1 })
    expect(forks).toEqual([{ error: { code: 429, message: tooMany(2, OF_TEAM) } }])
  })

  /** The check before the fork uses the limits that came with the credential. */
  async function expectForkLimit(sandboxId: string, limit: number): Promise<void> {
    const message = `Count must be lower than the maximum number of concurrent sandboxes (${limit})`
    await waitFor('the limit of forks', async () => {
      const { body } = await team.caller.withKey('POST', `/sandboxes/${sandboxId}/fork`, { count: 1 })
      return body.message === message
    })
  }
})

describe('the longest lifetime of a team', () => {
  it('is that of its row for creates, resumes, connects, forks and changes of the end time', async () => {
    await setLimits({ max_lifetime_seconds: 3600 })
    const message = 'Timeout cannot be greater than 1 hours'
    await waitFor('the limit', async () => (await create({ timeout: 3601 })).body.message === message)
    const { sandboxID } = (await create({ timeout: 3600 })).body
    for (const operation of ['resume', 'connect', 'fork']) {
      const answer = await team.caller.withKey('POST', `/sandboxes/${sandboxID}/${operation}`, { timeout: 3601 })
      expect(answer.body, operation).toEqual({ code: 400, message })
    }
    await team.caller.withKey('POST', `/sandboxes/${sandboxID}/timeout`, { timeout: 80_000 })
    const { startedAt, endAt } = (await team.caller.withKey('GET', `/sandboxes/${sandboxID}`)).body
    expect(Date.parse(endAt) - Date.parse(startedAt)).toBe(3_600_000)
    await setLimits({ max_lifetime_seconds: null })
    await waitFor('the setting', async () => (await create({ timeout: 7200 })).status === 201)
  })
})

describe('the builds of a team', () => {
  const register = (name: string, size: object = {}): Promise<Answer> => team.caller.withKey('POST', '/v3/templates', { name, ...size })

  it('are limited by its row, at registration and at the start', async () => {
    const first = (await register('one')).body
    await register('two')
    await setLimits({ max_builds: 1 })
    const message =
      'you have reached the maximum number of concurrent template builds (1). Please wait for existing builds to complete or contact support if you need more concurrent builds. ' +
      `On this server the limit is ${OF_TEAM}.`
    const start = (): Promise<Answer> =>
      team.caller.withKey('POST', `/v2/templates/${first.templateID}/builds/${first.buildID}`, { fromImage: 'debian' })
    for (const answer of [await register('three'), await start()]) {
      expect([answer.body, answer.headers['retry-after']]).toEqual([{ code: 429, message }, '1'])
    }
    await setLimits({ max_builds: 2 })
    expect((await start()).status).toBe(202)
  })

  it('have the processors and the memory that its row allows', async () => {
    await setLimits({ max_cpu_count: 16, max_memory_mib: 512 })
    await waitFor('the limit', async () => (await register('wide', { cpuCount: 16, memoryMB: 512 })).status === 202)
    const refusals = [await register('wider', { cpuCount: 18, memoryMB: 512 }), await register('bigger', { cpuCount: 2, memoryMB: 514 })]
    expect(refusals.map(({ body }) => body)).toEqual([
      { code: 400, message: "CPU count can't be higher than 16 (if you need to increase this limit, please contact support)" },
      { code: 400, message: "Memory can't be higher than 512 MiB (if you need to increase this limit, please contact support)" },
    ])
  })
})

describe('the disk of the templates of a team', () => {
  it('is at most that of its row', async () => {
    const register = (name: string, minFreeDiskMb: number): Promise<Answer> =>
      team.caller.withKey('POST', '/v3/templates', { name, minFreeDiskMb })
    const disk = async (name: string): Promise<unknown> =>
      (await team.caller.withKey('GET', '/templates')).body.find(({ aliases }: { aliases: string[] }) => aliases.includes(name)).diskSizeMB
    await setLimits({ max_disk_mib: 12_000 })
    await waitFor('the limit', async () => (await register('larger', 12_001)).status === 400)
    expect((await register('larger', 12_001)).body).toEqual({
      code: 400,
      message: "Disk can't be higher than 12000 MiB (if you need to increase this limit, please contact support)",
    })
    expect((await register('largest', 12_000)).status).toBe(202)
    expect(await disk('largest')).toBe(12_000)
    await setLimits({ max_disk_mib: 2000 })
    await waitFor('the limit', async () => (await register('none', 2001)).status === 400)
    expect((await register('none', 0)).status).toBe(202)
    expect(await disk('none')).toBe(2000)
  })
})

describe('the rate of creates of a team', () => {
  it('holds over two servers, and says what is left', async () => {
    await setLimits({ creates_per_minute: 1, create_burst: 5 })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? create() : createOn(team.other))))
    const allowed = answers.filter(({ status }) => status === 201)
    expect(allowed.map(({ headers }) => Number(headers['ratelimit-remaining'])).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
    expect(allowed.map(({ headers }) => headers['ratelimit-limit'])).toEqual(fill(5, '5'))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(7)
    for (const { body, headers } of refused) {
      expect(body).toEqual({ code: 429, message: 'Rate limit exceeded' })
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
      expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(Number(headers['retry-after']))
    }
  })

  it('gives creates back over time, and a faster one counts at once', async () => {
    await setLimits({ creates_per_minute: 1, create_burst: 2 })
    expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([201, 201, 429])
    await setLimits({ creates_per_minute: 600 })
    await waitFor('the next create', async () => (await create()).status === 201)
    await setLimits({ creates_per_minute: null })
    const { status, headers } = await create()
    expect([status, headers['ratelimit-limit']]).toEqual([201, undefined])
  })

  it('does not wait for the clock of the database when it was set back', async () => {
    await setLimits({ creates_per_minute: 1, create_burst: 1 })
    const inAnHour = sql<Date>`clock_timestamp() + interval '1 hour'`
    await setLimits({ creates_used: 1, creates_counted_at: inAnHour })
    expect([(await create()).status, (await create()).status]).toEqual([201, 429])
  })

  it('counts each fork, and neither a refused create nor a repeated one', async () => {
    await setLimits({ creates_per_minute: 1, create_burst: 4 })
    const withKey = { 'idempotency-key': 'same' }
    const made = await team.caller.withKey('POST', '/v2/sandboxes', { templateID: 'base' }, withKey)
    const again = await team.caller.withKey('POST', '/v2/sandboxes', { templateID: 'base' }, withKey)
    expect(again.body.sandboxID).toBe(made.body.sandboxID)
    expect((await create({ templateID: 'absent' })).status).toBe(404)
    const { body: forks, headers } = await team.caller.withKey('POST', `/sandboxes/${made.body.sandboxID}/fork`, { count: 5 })
    expect(headers['ratelimit-remaining']).toBe('0')
    expect(forks.map((fork: { error?: { code: number; message: string } }) => fork.error)).toEqual([
      ...fill(3, undefined),
      ...fill(2, { code: 429, message: 'Rate limit exceeded' }),
    ])
    expect((await create()).status).toBe(429)
  })

  it('is that of the settings for a team without one', async () => {
    const limited = await team.world.startServer({ env: { SANDYARD_CREATES_PER_MINUTE: '1', SANDYARD_CREATE_BURST: '2' } })
    const answers = [0, 1, 2].map(() => createOn(limited))
    expect((await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 429])
  })
})

it.each([
  { max_sandboxes: 0 },
  { max_lifetime_seconds: 86_401 },
  { max_builds: -1 },
  { creates_per_minute: 1_000_001 },
  { create_burst: 0 },
])('the row of a team takes no limit that cannot be kept: %o', async (limits) => {
  await expect(setLimits(limits)).rejects.toThrow('team_limits')
})

function fill<T>(length: number, value: T): T[] {
  return Array.from({ length }, () => value)
}
