import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MountPathError } from '@sandyard/runtime/mount-path-error'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let stranger: Caller
let volumeId: string

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true }, env: { SANDYARD_MAX_SANDBOXES: '1000' } })
  stranger = await addCaller(world, api, 'Strangers')
  volumeId = await addVolume('data')
  await addVolume('other')
})
afterAll(() => world[Symbol.asyncDispose]())

const addVolume = async (name: string): Promise<string> => (await api.call('POST', '/volumes', { body: { name } })).body.volumeID
const create = (volumeMounts: unknown, server = api): Promise<Answer> =>
  server.call('POST', '/v2/sandboxes', { body: { templateID: 'base', volumeMounts } })
const show = async (id: string): Promise<Answer['body']> => (await api.call('GET', `/sandboxes/${id}`)).body
const mountsOf = (id: string) => [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)?.spec.mounts
const countSandboxes = async (): Promise<number> => (await world.database.db.selectFrom('sandbox').select('sandbox_id').execute()).length

describe.each(['/sandboxes', '/v2/sandboxes'])('[POST /sandboxes] [POST /v2/sandboxes] volumeMounts of %s', (url) => {
  it('mounts volumes by their names, and shows them', async () => {
    const volumeMounts = [
      { name: 'data', path: '/mnt//data/' },
      { name: 'other', path: '/mnt/other', readOnly: true },
    ]
    const { status, body } = await api.call('POST', url, { body: { templateID: 'base', volumeMounts } })
    expect(status).toBe(201)
    expect((await show(body.sandboxID)).volumeMounts).toEqual(volumeMounts)
    expect(mountsOf(body.sandboxID)?.[0]).toEqual({ volume: volumeId, path: '/mnt/data', readOnly: false })
    expect(mountsOf(body.sandboxID)?.[1]).toMatchObject({ path: '/mnt/other', readOnly: true })
    const { body: listed } = await api.call('GET', '/v2/sandboxes')
    const found = listed.find(({ sandboxID }: { readonly sandboxID: string }) => sandboxID === body.sandboxID)
    expect(found.volumeMounts).toEqual(volumeMounts)
  })
})

describe('bad mounts', () => {
  it.each<[string, string]>([
    ['', 'path cannot be empty'],
    ['data', 'path must be absolute'],
    ['/data/../x', "path must not contain any '.' or '..' components"],
    ['/./data', "path must not contain any '.' or '..' components"],
    ['/', "path '/' is reserved"],
    ['/proc/x', "path '/proc/x' is reserved"],
    ['/run', "path '/run' is reserved"],
    ['/opt/sandyard/', "path '/opt/sandyard/' is reserved"],
    ['/a\nb', 'path must not contain control characters or unpaired surrogates'],
    ['/\0', 'path must not contain control characters or unpaired surrogates'],
    ['/var/run/e2b', "path '/var/run/e2b' is reserved"],
    [`/${'a'.repeat(256)}`, 'path must not have a name of more than 255 bytes'],
    [`/${'a'.repeat(1024)}`, 'path must not have more than 1024 bytes'],
  ])('are refused for the path %.20s', async (path, reason) => {
    const before = await countSandboxes()
    const answer = await create([{ name: 'data', path }])
    expect(answer.body).toEqual({ code: 400, message: `invalid mounts:\n\t- volume mount #0: ${reason}` })
    expect(await countSandboxes()).toBe(before)
  })

  it('are named one by one, with the first reason of each', async () => {
    const { body } = await create([
      { name: 'data', path: '/a' },
      { name: 'none', path: '' },
      { name: 'other', path: '/a/' },
      { name: 'data', path: '/b' },
      { name: 'data', path: '/b/c' },
    ])
    expect(body).toEqual({
      code: 400,
      message: [
        'invalid mounts:',
        "\t- volume mount #1: volume 'none' not found",
        "\t- volume mount #2: path '/a/' is already used",
        "\t- volume mount #4: path '/b/c' is below another mount",
      ].join('\n'),
    })
  })

  it.each(['no/name', '\0', 'x'.repeat(300)])('are refused for the name %.20s', async (name) => {
    const { status, body } = await create([{ name, path: '/a' }])
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^invalid mounts:\n\t- volume mount #0: volume '/)])
  })

  it('are refused when there are more than sixteen', async () => {
    const mounts = Array.from({ length: 17 }, (_, index) => ({ name: 'data', path: `/v${index}` }))
    expect((await create(mounts)).body.message).toBe('invalid mounts:\n\t- volume mount #16: a sandbox has at most 16 volume mounts')
    expect((await create(mounts.slice(1))).status).toBe(201)
  })

  it.each([[[{ name: 'data' }]], [[{ path: '/data' }]], [[{ name: 'data', path: 1 }]], ['data']])(
    'are refused by the schema: %j',
    async (mounts) => {
      const { status, body } = await create(mounts)
      expect([status, body.message]).toEqual([400, expect.stringMatching(/^validation error/)])
    },
  )

  it('are refused where the build has no daemon, or an old one', async () => {
    const setVersion = (envd_version: string | null) =>
      world.database.db.updateTable('build').set({ envd_version }).where('build_id', '=', world.buildId).execute()
    const ask = () =>
      api.call('POST', '/sandboxes', { body: { templateID: 'base', secure: false, volumeMounts: [{ name: 'data', path: '/a' }] } })
    const { envd_version: before } = await world.database.db
      .selectFrom('build')
      .select('envd_version')
      .where('build_id', '=', world.buildId)
      .executeTakeFirstOrThrow()
    try {
      await setVersion('0.5.13')
      expect((await ask()).body.message).toBe(
        'volumes are not supported; template must be rebuilt. Template envd version is 0.5.13, must be at least 0.5.14',
      )
      await setVersion(null)
      expect((await ask()).body.message).toBe('template must be rebuilt: envd version is not set')
    } finally {
      await setVersion(before)
    }
  })

  it('are refused for a path that is a file in the template, and nothing is left', async () => {
    const rows = async () => {
      const refused = world.database.db
        .selectFrom('sandbox')
        .select('sandbox_id')
        .where(sql<boolean>`volume_mounts::text like '%/etc/hostname%'`)
      return (await refused.execute()).length
    }
    api.runtime.faults.failBefore('create', new MountPathError('/etc/hostname'))
    const answer = await create([{ name: 'data', path: '/etc/hostname' }])
    expect(answer.body).toEqual({ code: 400, message: "invalid mounts:\n\t- path '/etc/hostname' is no directory in the template" })
    await waitFor('the end of what was reserved', async () => (await rows()) === 0)
    expect((await create([{ name: 'data', path: '/etc/hostname' }])).status).toBe(201)
    expect(await rows()).toBe(1)
  })

  it('are refused without volumes in the runtime', async () => {
    const plain = await world.startServer()
    expect((await create([{ name: 'data', path: '/a' }], plain)).body).toEqual({ code: 400, message: 'Volume mounts are not enabled.' })
  })

  it('are refused for a deleted volume, and for one of another team by its name and its id', async () => {
    const id = await addVolume('gone')
    await api.call('DELETE', `/volumes/${id}`)
    const { body: foreign } = await stranger.withKey('POST', '/volumes', { name: 'foreign' })
    for (const name of ['gone', id, 'foreign', foreign.volumeID]) {
      expect((await create([{ name, path: '/a' }])).body.message).toBe(`invalid mounts:\n\t- volume mount #0: volume '${name}' not found`)
    }
    const answer = await stranger.withKey('POST', '/v2/sandboxes', { templateID: 'base', volumeMounts: [{ name: 'data', path: '/a' }] })
    expect(answer.body.message).toBe("invalid mounts:\n\t- volume mount #0: volume 'data' not found")
  })

  it('come after the rule of public traffic and before our own checks', async () => {
    const ask = async (body: object): Promise<string> =>
      (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', volumeMounts: [{ name: 'none', path: '/a' }], ...body } }))
        .body.message
    expect(await ask({ secure: false, network: { allowPublicTraffic: false } })).toMatch(
      /^You cannot create a sandbox without public access/,
    )
    expect(await ask({ mcp: { a: '\0' } })).toMatch(/^invalid mounts/)
  })
})

describe('a sandbox with volumes', () => {
  it('keeps them over a pause with files and a resume', async () => {
    const { body } = await create([{ name: 'data', path: '/data' }])
    expect((await api.call('POST', `/sandboxes/${body.sandboxID}/pause`, { body: { memory: false } })).status).toBe(204)
    expect((await show(body.sandboxID)).volumeMounts).toEqual([{ name: 'data', path: '/data' }])
    expect((await api.call('POST', `/sandboxes/${body.sandboxID}/connect`, { body: { timeout: 60 } })).status).toBe(201)
    expect(await show(body.sandboxID)).toMatchObject({ state: 'running', volumeMounts: [{ name: 'data', path: '/data' }] })
  })

  it('gives them to its forks', async () => {
    const { body } = await create([{ name: 'data', path: '/data', readOnly: true }])
    const { body: forks } = await api.call('POST', `/sandboxes/${body.sandboxID}/fork`, { body: { count: 2 } })
    for (const { sandbox } of forks) {
      expect((await show(sandbox.sandboxID)).volumeMounts).toEqual([{ name: 'data', path: '/data', readOnly: true }])
      expect(mountsOf(sandbox.sandboxID)).toEqual([{ volume: volumeId, path: '/data', readOnly: true }])
    }
  })

  it('does not give them to a sandbox that starts from its snapshot', async () => {
    const { body } = await create([{ name: 'data', path: '/data' }])
    const { body: snapshot } = await api.call('POST', `/sandboxes/${body.sandboxID}/snapshots`, { body: {} })
    const { body: made } = await api.call('POST', '/v2/sandboxes', { body: { templateID: snapshot.snapshotID } })
    expect(mountsOf(made.sandboxID)).toEqual([])
  })

  it('gets a volume that the engine does not have yet', async () => {
    const id = await addVolume('late')
    await world.engine.volumes.remove(`fake/${id}`)
    expect((await create([{ name: 'late', path: '/late' }])).status).toBe(201)
    expect(world.engine.volumes.has(`fake/${id}`)).toBe(true)
  })

  it('is not created when its volume is deleted while the create waits for its turn', async () => {
    const id = await addVolume('raced')
    await using holder = await holdTeam()
    const creating = create([{ name: 'raced', path: '/raced' }])
    await waitFor('the create to wait for its team', () => holder.isAwaited())
    expect((await api.call('DELETE', `/volumes/${id}`)).status).toBe(204)
    await holder.release()
    expect((await creating).body.message).toBe("invalid mounts:\n\t- volume mount #0: volume 'raced' not found")
  })
})

/** Holds the lock under which creates of a team are serialised. */
async function holdTeam() {
  const { promise: released, resolve } = Promise.withResolvers<void>()
  const { promise: held, resolve: onHeld } = Promise.withResolvers<void>()
  const ended = world.database.transaction(async (tx) => {
    await tx.selectFrom('team').select('id').where('id', '=', world.teamId).forUpdate().execute()
    onHeld()
    await released
  })
  await held
  const release = async (): Promise<void> => {
    resolve()
    await ended
  }
  return {
    release,
    isAwaited: async () => {
      const { rows } = await sql<{ waiting: number }>`
        select count(*)::int as waiting from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())
          or not granted and locktype = 'transactionid' and pid in (select pid from pg_stat_activity where datname = current_database())
      `.execute(world.database.db)
      return (rows[0]?.waiting ?? 0) > 0
    },
    [Symbol.asyncDispose]: release,
  }
}

describe('the warm pool', () => {
  it('serves a create without volumes, and never one with volumes', async () => {
    const pooled = await createWorld()
    await using _pooled = pooled
    const server = await pooled.startServer({
      capabilities: { mounts: true },
      env: { SANDYARD_POOL_MEMORY: '0.5', SANDYARD_POOL_CPU: '1' },
    })
    await server.call('POST', '/volumes', { body: { name: 'data' } })
    const make = async (body: object): Promise<string> =>
      (await server.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })).body.sandboxID
    const parked = async (): Promise<string[]> =>
      (await pooled.database.db.selectFrom('parked_sandbox').select('sandbox_id').where('state', '=', 'parked').execute()).map(
        ({ sandbox_id }) => sandbox_id,
      )
    await make({})
    await waitFor('a pause after the creates', () => server.ctx.pool.isQuiet)
    await server.ctx.pool.fill()
    await server.ctx.pool.settled()
    await waitFor('a parked sandbox', async () => (await parked()).length > 0)
    const waiting = new Set(await parked())
    const mounted = await make({ volumeMounts: [{ name: 'data', path: '/data' }] })
    expect(waiting.has(mounted)).toBe(false)
    const found = [...pooled.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === mounted)
    expect(found?.spec.mounts.map(({ path }) => path)).toEqual(['/data'])
    expect(waiting.has(await make({}))).toBe(true)
  })
})
