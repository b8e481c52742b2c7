import { describe, expect, it } from 'vitest'
import { addCaller } from './support/build-callers.ts'
import { waitFor, type Answer } from './support/control-plane.ts'
import { useLimitedTeam } from './support/limited-team.ts'

const team = useLimitedTeam()
const { setLimits, create } = team

async function created(body: object = {}): Promise<string> {
  const answer = await create(body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.sandboxID
}
const pause = (id: string, server = team.api): Promise<Answer> =>
  server.call('POST', `/sandboxes/${id}/pause`, { apiKey: team.caller.apiKey })
const stateOf = async (id: string): Promise<string> => (await team.caller.withKey('GET', `/sandboxes/${id}`)).body.state
const used = async (name: string): Promise<number> =>
  (await team.caller.withKey('GET', `/teams/${team.caller.teamId}/limits`)).body[name].used

const OF_TEAM = 'On this server the limit is that of the team: see `sandyard limits`.'
const tooManyPaused = (limit: number, source = OF_TEAM): string =>
  `you have reached the maximum number of paused sandboxes (${limit}), with those that pause at their timeout. Kill some that you do not need. ${source}`

function refusal({ status, body, headers }: Answer): unknown {
  return [status, body, headers['retry-after']]
}
const tooMany = (message: string): unknown => [429, { code: 429, message }, '1']

describe('the paused sandboxes of a team', () => {
  it('are limited where a request pauses one, which then runs on [POST /sandboxes/{sandboxID}/pause]', async () => {
    await setLimits({ max_paused_sandboxes: 1 })
    const [first, second] = [await created(), await created()]
    expect((await pause(first)).status).toBe(204)
    expect(refusal(await pause(second))).toEqual(tooMany(tooManyPaused(1)))
    expect([await stateOf(second), await used('maxPausedSandboxes')]).toEqual(['running', 1])
    const stranger = await addCaller(team.world, team.api, `Stranger-${team.caller.slug}`)
    const { sandboxID } = (await stranger.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).body
    expect((await stranger.withKey('POST', `/sandboxes/${sandboxID}/pause`)).status).toBe(204)
    expect((await team.caller.withKey('DELETE', `/sandboxes/${first}`)).status).toBe(204)
    expect((await pause(second)).status).toBe(204)
  })

  it('are limited together over two servers', async () => {
    await setLimits({ max_paused_sandboxes: 2 })
    const ids = await Promise.all(Array.from({ length: 6 }, () => created()))
    const answers = await Promise.all(ids.map((id, n) => pause(id, n % 2 === 0 ? team.api : team.other)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 204, 429, 429, 429, 429])
    expect(await used('maxPausedSandboxes')).toBe(2)
  })

  it('are limited where one is created that will be paused, whose pauses are then never refused', async () => {
    await setLimits({ max_paused_sandboxes: 2 })
    const [asked, expiring] = [await created({ autoPause: true }), await created({ autoPause: true })]
    expect(refusal(await create({ autoPause: true }))).toEqual(tooMany(tooManyPaused(2)))
    const plain = await created()
    expect((await pause(plain)).status).toBe(429)
    await setLimits({ max_paused_sandboxes: 1 })
    expect((await pause(asked)).status).toBe(204)
    expect((await team.caller.withKey('POST', `/sandboxes/${expiring}/timeout`, { timeout: 0 })).status).toBe(204)
    await waitFor('the pause at the end time', async () => (await stateOf(expiring)) === 'paused')
    expect(await used('maxPausedSandboxes')).toBe(2)
  })

  it('are limited where they are forked, and a resume needs no place', async () => {
    await setLimits({ max_paused_sandboxes: 2 })
    const id = await created({ autoPause: true })
    const { body: forks } = await team.caller.withKey('POST', `/sandboxes/${id}/fork`, { count: 3 })
    const refused = { error: { code: 429, message: tooManyPaused(2) } }
    expect([forks.length, forks[0].error, forks[1], forks[2]]).toEqual([3, undefined, refused, refused])
    expect((await pause(id)).status).toBe(204)
    expect((await team.caller.withKey('POST', `/sandboxes/${id}/resume`, { autoPause: true })).status).toBe(201)
    expect(await used('maxPausedSandboxes')).toBe(2)
  })

  it('are limited by the setting for a team without a limit of its own', async () => {
    const limited = await team.world.startServer({ env: { SANDYARD_MAX_PAUSED_SANDBOXES: '1' } })
    const ids = [await created(), await created()]
    expect((await pause(ids[0] ?? '', limited)).status).toBe(204)
    const source = 'On this server the limit is the setting SANDYARD_MAX_PAUSED_SANDBOXES.'
    expect((await pause(ids[1] ?? '', limited)).body.message).toBe(tooManyPaused(1, source))
  })
})

describe('the snapshots of a team', () => {
  const message = `you have reached the maximum number of snapshots (2). Delete some that you do not need. ${OF_TEAM}`

  it('are limited, those included that another one has replaced [POST /sandboxes/{sandboxID}/snapshots]', async () => {
    await setLimits({ max_snapshots: 2 })
    const id = await created()
    const take = (body: object = {}): Promise<Answer> => team.caller.withKey('POST', `/sandboxes/${id}/snapshots`, body)
    expect([(await take({ name: 'same' })).status, (await take({ name: 'same' })).status]).toEqual([201, 201])
    expect(refusal(await take())).toEqual(tooMany(message))
    expect([await stateOf(id), await used('maxSnapshots')]).toEqual(['running', 2])
    // A fork keeps none.
    expect((await team.caller.withKey('POST', `/sandboxes/${id}/fork`, { count: 1 })).body[0].error).toBeUndefined()
    const [{ snapshotID }] = (await team.caller.withKey('GET', '/snapshots')).body
    expect((await team.caller.withKey('DELETE', `/templates/${encodeURIComponent(snapshotID.split(':')[0])}`)).status).toBe(204)
    expect((await take()).status).toBe(201)
  })

  it('are limited together when several are taken at once', async () => {
    await setLimits({ max_snapshots: 2 })
    const ids = await Promise.all(Array.from({ length: 5 }, () => created()))
    const answers = await Promise.all(ids.map((id) => team.caller.withKey('POST', `/sandboxes/${id}/snapshots`, {})))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 429, 429, 429])
    expect(await used('maxSnapshots')).toBe(2)
    for (const id of ids) expect(await stateOf(id)).toBe('running')
  })
})

it('the templates of a team are limited, and builds of those that it has are not [POST /v3/templates]', async () => {
  await setLimits({ max_templates: 1 })
  const register = (name: string): Promise<Answer> => team.caller.withKey('POST', '/v3/templates', { name })
  const { status, body } = await register('one')
  expect(status).toBe(202)
  const message = `you have reached the maximum number of templates (1). Delete some that you do not need. ${OF_TEAM}`
  expect(refusal(await register('two'))).toEqual(tooMany(message))
  expect((await register('one')).status).toBe(202)
  const id = await created()
  expect((await team.caller.withKey('POST', `/sandboxes/${id}/snapshots`, {})).status).toBe(201)
  expect(await used('maxTemplates')).toBe(1)
  expect((await team.caller.withKey('DELETE', `/templates/${body.templateID}`)).status).toBe(204)
  expect((await register('two')).status).toBe(202)
})

it.each([{ max_paused_sandboxes: 0 }, { max_snapshots: -1 }, { max_templates: 0 }])(
  'the row of a team takes no limit that cannot be kept: %o',
  async (limits) => {
    await expect(setLimits(limits)).rejects.toThrow('team_counts')
  },
)
