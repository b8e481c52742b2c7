import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, waitFor, type Answer } from './support/control-plane.ts'
import { block, insertBuild, insertTemplate, refusal, seedParty, useTwoTeams, type Party } from './support/templates.ts'

const { world, api, ours, theirs } = await useTwoTeams({ SANDYARD_TEAM_PUBLIC_NAMES: 'true' })

type Method = 'PATCH' | 'DELETE'

const asTeam = (party: Party) => ({ apiKey: party.apiKey })
const asUser = (party: Party) => ({ apiKey: null, headers: { authorization: party.bearer } })
const idPath = (name: string) => `/templates/${encodeURIComponent(name)}`

const isPublic = async (templateId: string): Promise<boolean> => {
  const row = await world.database.db
    .selectFrom('template')
    .select('is_public')
    .where('template_id', '=', templateId)
    .executeTakeFirstOrThrow()
  return row.is_public
}

const eventsOf = async (subject: string): Promise<string[]> => {
  const rows = await world.database.db.selectFrom('event').select('kind').where('subject', '=', subject).orderBy('event_id').execute()
  return rows.map(({ kind }) => kind)
}

describe('[PATCH /templates/{templateID}] [PATCH /v2/templates/{templateID}]', () => {
  const patch = (path: string, body: unknown, party: Party = ours) => api.call('PATCH', path, { body, ...asTeam(party) })

  it.each(['', '/v2'])('%s changes the visibility of a template by any of its names', async (prefix) => {
    const alias = `visible${prefix.slice(1)}`
    const templateId = await insertTemplate(world, ours, { alias })
    const use = () => api.call('POST', '/v2/sandboxes', { body: { templateID: `ours/${alias}` }, apiKey: theirs.apiKey })
    await insertBuild(world, templateId)
    expect((await use()).status).toBe(404)
    for (const [reference, value] of [
      [templateId, true],
      [alias, false],
      [`ours/${alias}`, true],
      [`${alias}:ignored`, false],
      [templateId, true],
    ] as const) {
      const { status, body } = await patch(`${prefix}${idPath(reference)}`, { public: value })
      expect({ status, names: body.names }).toEqual({ status: 200, names: expect.arrayContaining([`ours/${alias}`]) })
      expect(await isPublic(templateId)).toBe(value)
    }
    expect((await use()).status).toBe(201)
    expect(await eventsOf(templateId)).toContain('template.updated')
  })

  it.each(['', '/v2'])('%s changes nothing with an empty body', async (prefix) => {
    const templateId = await insertTemplate(world, ours, { isPublic: true, createdAt: new Date('2026-01-01T00:00:00Z') })
    expect(await patch(`${prefix}/templates/${templateId}`, {})).toMatchObject({ status: 200, body: { names: [] } })
    expect(await patch(`${prefix}/templates/${templateId}`, { other: 1 })).toMatchObject({ status: 200, body: { names: [] } })
    expect(await isPublic(templateId)).toBe(true)
    const { body } = await api.call('GET', `/templates/${templateId}`, asTeam(ours))
    expect(body.updatedAt).toBe('2026-01-01T00:00:00.000Z')
    expect(await eventsOf(templateId)).toEqual([])
  })

  it('promotes the name only in the first version, and only once', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'promoted' })
    expect((await patch('/v2/templates/promoted', { public: true })).body).toEqual({ names: ['ours/promoted'] })
    expect((await patch('/templates/promoted', { public: false })).body).toEqual({ names: ['ours/promoted'] })
    for (let time = 0; time < 2; time++) {
      const { body } = await patch('/templates/promoted', { public: true })
      expect(body.names.toSorted()).toEqual(['ours/promoted', 'promoted'])
    }
    const { body } = await api.call('GET', `/templates/${templateId}`, asTeam(ours))
    expect(body.aliases).toEqual(['promoted'])
    await insertBuild(world, templateId)
    const used = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'promoted' }, apiKey: theirs.apiKey })
    expect(used).toMatchObject({ status: 201, body: { templateID: templateId } })
  })

  it('lets only administrators promote names by default', async () => {
    const byDefault = await world.startServer()
    const templateId = await insertTemplate(world, ours, { alias: 'everybodys' })
    await insertBuild(world, templateId)
    const publish = (headers: Record<string, string>, apiKey: string | null = null) =>
      byDefault.call('PATCH', '/templates/everybodys', { body: { public: true }, headers, apiKey })
    const use = (templateID: string) => byDefault.call('POST', '/v2/sandboxes', { body: { templateID }, apiKey: theirs.apiKey })

    expect(await publish({}, ours.apiKey)).toMatchObject({ status: 200, body: { names: ['ours/everybodys'] } })
    expect((await use('everybodys')).status).toBe(404)
    expect((await use('ours/everybodys')).status).toBe(201)

    const { status, body } = await publish({ 'x-admin-token': ADMIN_TOKEN, 'x-team-id': ours.teamId })
    expect([status, body.names.toSorted()]).toEqual([200, ['everybodys', 'ours/everybodys']])
    expect((await use('everybodys')).status).toBe(201)
  })

  it('reports a taken bare name, and still makes the template public', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'base' })
    expect(await patch('/templates/base', { public: true })).toMatchObject({
      status: 409,
      body: {
        code: 409,
        message:
          "Public template name 'base' is already taken. Your template is available at 'ours/base'. Please update your CLI to remove this error message.",
      },
    })
    expect(await isPublic(templateId)).toBe(true)
    expect(await patch('/v2/templates/base', { public: true })).toMatchObject({ status: 200, body: { names: ['ours/base'] } })
  })

  it('gives a bare name to one of two concurrent requests', async () => {
    await insertTemplate(world, ours, { alias: 'wanted' })
    await insertTemplate(world, theirs, { alias: 'wanted' })
    const answers = await Promise.all([ours, theirs].map((party) => patch('/templates/wanted', { public: true }, party)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  it.each<[string, string, unknown, () => Party, number, string | RegExp]>([
    ['a syntax', 'a%20b', {}, () => ours, 400, 'Invalid template ID: invalid template ID: a b'],
    ['a foreign namespace', 'ours%2Fpromoted', {}, () => theirs, 400, "namespace 'ours' must match your team 'theirs'"],
    ['an unknown name', 'nothing%3Av1', {}, () => ours, 404, "template 'nothing' not found"],
    ['a promoted one of another team', 'promoted', {}, () => theirs, 403, "You don't have access to template 'promoted'"],
    ['no body', 'promoted', undefined, () => ours, 400, /^validation error/],
    ['a body of the wrong type', 'promoted', [], () => ours, 400, /^validation error/],
    ['a field of the wrong type', 'promoted', { public: 'yes' }, () => ours, 400, /^validation error/],
  ])('refuses %s', async (_name, path, body, party, code, message) => {
    for (const prefix of ['', '/v2']) {
      expect(await patch(`${prefix}/templates/${path}`, body, party())).toMatchObject(refusal(code, message))
    }
  })

  it('accepts users with template ids', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'by-user' })
    const patchAs = (name: string, party: Party) => api.call('PATCH', `/v2${idPath(name)}`, { body: { public: true }, ...asUser(party) })
    expect(await patchAs(templateId, ours)).toMatchObject({ status: 200, body: { names: ['ours/by-user'] } })
    expect(await patchAs('by-user', ours)).toMatchObject({ status: 404, body: { message: "template 'by-user' not found" } })
    expect(await patchAs(templateId, theirs)).toMatchObject({
      status: 403,
      body: { code: 403, message: `You don't have access to template '${templateId}'` },
    })
  })
})

describe('[DELETE /templates/{templateID}]', () => {
  const remove = (name: string, party: Party = ours) => api.call('DELETE', idPath(name), asTeam(party))

  it('frees the names, reserves the id and cancels unfinished builds', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'doomed' })
    const waiting = await insertBuild(world, templateId, { status: 'waiting' })
    const ready = await insertBuild(world, templateId)
    expect(await remove('doomed')).toMatchObject({ status: 204, text: '' })
    const builds = await world.database.db
      .selectFrom('build')
      .select(['build_id', 'status', 'reason_message'])
      .where('template_id', '=', templateId)
      .execute()
    expect(Object.fromEntries(builds.map(({ build_id, ...build }) => [build_id, build]))).toEqual({
      [waiting]: { status: 'failed', reason_message: 'build was cancelled' },
      [ready]: { status: 'uploaded', reason_message: null },
    })
    expect(await eventsOf(templateId)).toContain('template.deleted')
    expect((await api.call('GET', '/templates/aliases/doomed', asTeam(ours))).status).toBe(404)
    expect((await api.call('POST', '/v2/sandboxes', { body: { templateID: templateId }, ...asTeam(ours) })).status).toBe(404)
    expect((await insertTemplate(world, ours, { alias: 'doomed' })).length).toBe(20)
    expect((await remove(templateId)).status).toBe(204)
    expect((await remove(templateId, theirs)).status).toBe(404)
  })

  it.each(['doomed', 'ours/doomed', 'doomed:any-tag', 'OURS/DOOMED'])('accepts the name %s', async (name) => {
    await world.database.db.deleteFrom('template_alias').where('alias', '=', 'doomed').execute()
    const templateId = await insertTemplate(world, ours, { alias: 'doomed' })
    expect((await remove(name)).status).toBe(204)
    expect((await api.call('GET', `/templates/${templateId}`, asTeam(ours))).status).toBe(404)
  })

  it('refuses while sandboxes of the team use it', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'used', isPublic: true })
    await insertBuild(world, templateId)
    const { body: own } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'used' }, ...asTeam(ours) })
    await api.call('POST', '/v2/sandboxes', { body: { templateID: 'ours/used' }, ...asTeam(theirs) })
    const text = (state: string) => `cannot delete template '${templateId}' because there are ${state} sandboxes using it`
    for (const state of ['running', 'pausing', 'snapshotting'] as const) {
      await world.database.db.updateTable('sandbox').set({ state }).where('sandbox_id', '=', own.sandboxID).execute()
      expect(await remove('used')).toMatchObject({ status: 400, body: { code: 400, message: text('running') } })
    }
    await world.database.db
      .updateTable('sandbox')
      .set({ state: 'paused', pause_keep: 'files', pause_handle: '{}', paused_at: new Date() })
      .where('sandbox_id', '=', own.sandboxID)
      .execute()
    expect(await remove(templateId)).toMatchObject({ status: 400, body: { code: 400, message: text('paused') } })
    await world.database.db.deleteFrom('sandbox').where('sandbox_id', '=', own.sandboxID).execute()
    expect((await remove('used')).status).toBe(204)
  })

  it('refuses to delete a default template', async () => {
    expect(await api.call('DELETE', '/templates/base')).toMatchObject({
      status: 400,
      body: {
        code: 400,
        message: `cannot delete template '${world.templateId}' because it is one of the default templates of this server`,
      },
    })
    expect((await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).status).toBe(201)
  })

  it('runs before or after a concurrent create: no create succeeds after it', async () => {
    for (let round = 0; round < 5; round++) {
      const templateId = await insertTemplate(world, ours)
      await insertBuild(world, templateId)
      const create = () => api.call('POST', '/v2/sandboxes', { body: { templateID: templateId }, ...asTeam(ours) })
      const [created, deleted] = await Promise.all([create(), remove(templateId)])
      expect([`${created.status} ${deleted.status}`]).toEqual([expect.stringMatching(/^(201 400|404 204|201 204)$/)])
      expect((await create()).status).toBe(deleted.status === 204 ? 404 : 201)
    }
  })

  it('fails a create that resolved the template before', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'vanishing', isPublic: true })
    await insertBuild(world, templateId)
    const { db } = world.database
    let created: Promise<Answer> | undefined
    await world.database.transaction(async (tx) => {
      await tx.selectFrom('template').select('template_id').where('template_id', '=', templateId).forUpdate().execute()
      created = api.call('POST', '/v2/sandboxes', { body: { templateID: templateId }, apiKey: theirs.apiKey })
      await waitFor('the create to wait for the template row', async () => {
        const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
        return rows.length > 0
      })
      await tx.updateTable('template').set({ deleted_at: new Date() }).where('template_id', '=', templateId).execute()
    })
    expect(await created).toMatchObject(refusal(404, `template '${templateId}' not found`))
  })

  it('leaves no unfinished build when builds are registered and started concurrently', async () => {
    const register = () => api.call('POST', '/v3/templates', { body: { name: 'busy' }, ...asTeam(ours) })
    for (let round = 0; round < 5; round++) {
      const { templateID, buildID } = (await register()).body
      const [registered, started, deleted] = await Promise.all([
        register(),
        api.call('POST', `/v2/templates/${templateID}/builds/${buildID}`, { body: { fromImage: 'debian' }, ...asTeam(ours) }),
        remove(templateID),
      ])
      expect([202, 404]).toContain(registered.status)
      expect([202, 400, 404]).toContain(started.status)
      expect(deleted.status).toBe(204)
      const unfinished = await world.database.db
        .selectFrom('build')
        .select('build_id')
        .where('template_id', '=', templateID)
        .where('status', 'in', ['waiting', 'building'])
        .execute()
      expect(unfinished).toEqual([])
    }
  })

  it('deletes the template once for concurrent requests', async () => {
    const templateId = await insertTemplate(world, ours)
    const answers: Answer[] = await Promise.all([1, 2, 3].map(() => remove(templateId)))
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
    expect((await eventsOf(templateId)).filter((kind) => kind === 'template.deleted')).toHaveLength(1)
  })

  it.each<[string, string, () => Party, number, string]>([
    ['a syntax', 'a b', () => ours, 400, 'Invalid template ID: invalid template ID: a b'],
    ['a foreign namespace', 'theirs/app', () => ours, 400, "namespace 'theirs' must match your team 'ours'"],
    ['an unknown name', 'nothing:v1', () => ours, 404, "template 'nothing' not found"],
    ['a bare name of another team', 'kept', () => theirs, 404, "template 'kept' not found"],
    ['a promoted name of another team', 'base', () => theirs, 403, "You don't have access to template 'base'"],
  ])('refuses %s', async (_name, name, party, code, message) => {
    await world.database.db.deleteFrom('template_alias').where('alias', '=', 'kept').execute()
    await world.database.db.deleteFrom('template_alias').where('namespace', '=', 'theirs').execute()
    await insertTemplate(world, ours, { alias: 'kept' })
    const { status, body } = await remove(name, party())
    expect({ status, body }).toEqual({ status: code, body: { code, message } })
  })

  it("refuses another team's id", async () => {
    const templateId = await insertTemplate(world, ours)
    expect(await remove(templateId, theirs)).toMatchObject({
      status: 403,
      body: { message: `You don't have access to template '${templateId}'` },
    })
  })

  it('accepts users with names of their default team', async () => {
    await insertTemplate(world, ours, { alias: 'of-user' })
    expect((await api.call('DELETE', '/templates/of-user', asUser(theirs))).status).toBe(404)
    expect((await api.call('DELETE', '/templates/of-user', asUser(ours))).status).toBe(204)
  })
})

describe('access to changes of templates', () => {
  it.each<[Method, string]>([
    ['PATCH', '/templates/{id}'],
    ['PATCH', '/v2/templates/{id}'],
    ['DELETE', '/templates/{id}'],
  ])('%s %s', async (method, path) => {
    const party = await seedParty(world, `Blocked${method}${path.length}`)
    const url = path.replace('{id}', await insertTemplate(world, party))
    const call = (options: object) => api.call(method, url, { ...(method === 'PATCH' && { body: {} }), ...options })
    expect(await call({ apiKey: null })).toMatchObject({ status: 401, body: { message: 'authorization header is missing' } })
    expect((await call({ apiKey: `e2b_${'0'.repeat(40)}` })).status).toBe(401)
    expect((await call({ apiKey: null, headers: { authorization: `Bearer ${party.apiKey}` } })).status).toBe(401)
    const admin = { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': theirs.teamId }
    expect((await call({ apiKey: null, headers: admin })).status).toBe(403)
    await block(world, party.teamId, 'unpaid')
    for (const credentials of [asUser(party), asTeam(party)]) {
      const answer = await call(credentials)
      if (method === 'DELETE') expect(answer.status).toBe(204)
      else expect(answer).toMatchObject({ status: 403, body: { code: 403, message: 'team is blocked: unpaid' } })
    }
  })
})
