import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi, type ApiAnswer } from '../support/api.ts'
import { bearer, endOfBuild } from '../support/builds.ts'
import { withRawSandbox } from '../support/raw-sandbox.ts'
import { dateTime, integerFrom, templateId, uuid } from '../support/shapes.ts'
import { removeLater, removeTemplates, templateName } from '../support/templates.ts'

const json = 'application/json; charset=utf-8'
const unknownId = '0'.repeat(20)

afterAll(removeTemplates)

/** The ids in the answer to a registration. */
function registered(answer: ApiAnswer): { id: string; buildId: string } {
  expect(answer).toMatchObject({ status: 202, headers: { 'content-type': json } })
  const id = String(answer.body['templateID'])
  removeLater(id)
  return { id, buildId: String(answer.body['buildID']) }
}

/** The legacy shape of a template that was never built (control-plane.md). */
function legacy(alias: string, namespaced: unknown): Record<string, unknown> {
  return {
    templateID: templateId,
    buildID: uuid,
    cpuCount: 2,
    memoryMB: 1024,
    diskSizeMB: integerFrom(0),
    public: false,
    aliases: [alias],
    names: [namespaced],
    createdAt: dateTime,
    updatedAt: dateTime,
    createdBy: { id: uuid, email: expect.any(String) },
    lastSpawnedAt: null,
    spawnCount: 0,
    buildCount: 1,
    envdVersion: '0.6.13',
    buildStatus: 'waiting',
  }
}

describe('[POST /v2/templates]', () => {
  test('returns 202 with every field of the legacy shape', async () => {
    const alias = templateName('v2')
    const answer = await callApi('POST /v2/templates', { body: { alias } })
    registered(answer)
    expect(answer.body).toEqual(legacy(alias, expect.stringMatching(new RegExp(`^[a-z0-9-]+/${alias}$`))))
  })

  test('accepts sizes at their bounds, and the deprecated teamID only if it is the own team', async () => {
    const alias = templateName('v2-sizes')
    const answer = await callApi('POST /v2/templates', { body: { alias, cpuCount: 1, memoryMB: 128 } })
    registered(answer)
    expect(answer.body).toMatchObject({ cpuCount: 1, memoryMB: 128 })
    const foreign = await callApi('POST /v2/templates', { body: { alias, teamID: '00000000-0000-4000-8000-000000000000' } })
    expect(foreign).toMatchObject({ status: 400, body: { code: 400, message: expect.any(String) } })
  })

  test.each([
    [{}, /^validation error/],
    [{ alias: 7 }, /^validation error/],
    [{ alias: 'x', cpuCount: 0 }, /^validation error/],
    [{ alias: 'x', cpuCount: 1.5 }, /^validation error/],
    [{ alias: 'x', memoryMB: 127 }, /^validation error/],
    [{ alias: 'x', memoryMB: '1024' }, /^validation error/],
    [{ alias: 'x', cpuCount: 3 }, /^CPU count must be 1 or an even number$/],
    [{ alias: 'x', cpuCount: 34 }, /^CPU count must be at most 32$/],
    [{ alias: 'x', memoryMB: 129 }, /^Memory must be divisible by 2$/],
    [{ alias: 'no spaces' }, /^Invalid (name|alias): /],
    [{ alias: 'other-team/x' }, /^namespace 'other-team' must match your team '[a-z0-9-]+'$/],
  ])('refuses %j', async (body, message) => {
    const answer = await callApi('POST /v2/templates', { body })
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': json } })
    expect(answer.body).toEqual({ code: 400, message: expect.stringMatching(message) })
  })
})

describe('[POST /v3/templates]', () => {
  test('returns 202 with its own shape, and registers a new build for an existing name', async () => {
    const name = templateName('v3')
    const first = await callApi('POST /v3/templates', { body: { name: ` ${name.toUpperCase()}:V1`, tags: ['v1', 'Next'] } })
    const { id, buildId } = registered(first)
    expect(first.body).toEqual({
      templateID: templateId,
      buildID: uuid,
      public: false,
      names: [expect.stringMatching(new RegExp(`^[a-z0-9-]+/${name}$`))],
      tags: expect.toSatisfy((tags: string[]) => tags.toSorted().join() === 'next,v1'),
      aliases: [name],
    })
    const second = await callApi('POST /v3/templates', { body: { alias: name } })
    expect(second.body).toMatchObject({ templateID: id, tags: ['default'] })
    expect(second.body['buildID']).not.toBe(buildId)
  })

  test.each([
    [{}, /^Name is required$/],
    [{ name: 'a b' }, /^Invalid name: /],
    [{ name: 'a', tags: [''] }, /^Invalid tag: /],
    [{ name: 'a', tags: ['5f8c2b7e-3f0a-4f43-9f5e-0d7f0f9ad9f1'] }, /^Invalid tag: .*tag cannot be a UUID/],
    [{ name: `a${'x'.repeat(128)}` }, /^validation error/],
  ])('refuses %j', async (body, message) => {
    expect(await callApi('POST /v3/templates', { body })).toMatchObject({ status: 400, body: { message: expect.stringMatching(message) } })
  })
})

describe('[POST /templates] [POST /templates/{templateID}] a Dockerfile', () => {
  const dockerfile = [
    'FROM debian:bookworm-slim AS first',
    'ARG WORD=spoken',
    'RUN echo "$WORD" > /word',
    // It has the packages of a template, whose installation takes a quarter of a minute.
    'FROM e2bdev/base',
    'COPY --from=first /word /srv/word',
    'ENV PLACE=/srv',
    'WORKDIR /srv',
  ].join('\n')
  let id = ''
  let rebuilt: ApiAnswer

  beforeAll(async () => {
    id = registered(await callApi('POST /templates', { ...bearer(), body: { dockerfile, alias: templateName('v1') } })).id
    const alias = templateName('v1-renamed')
    rebuilt = await callApi(`POST /templates/${id}`, { ...bearer(), body: { dockerfile, alias, cpuCount: 1, memoryMB: 256 } })
  })

  test('is accepted from a user and returns the legacy shape with the new build', async () => {
    expect(rebuilt).toMatchObject({ status: 202, headers: { 'content-type': json } })
    const [alias] = rebuilt.body['aliases'] as string[]
    const shape = legacy(String(alias), expect.stringMatching(new RegExp(`^[a-z0-9-]+/${String(alias)}$`)))
    const expected = {
      ...shape,
      templateID: id,
      cpuCount: 1,
      memoryMB: 256,
      buildCount: 2,
      buildStatus: expect.stringMatching(/^(waiting|building)$/),
    }
    expect(rebuilt.body).toEqual(expected)
  })

  test('is built at once, and its sandboxes have its files', async () => {
    const buildId = String(rebuilt.body['buildID'])
    expect(await endOfBuild(id, buildId)).toMatchObject({ templateID: id, buildID: buildId, status: 'ready' })
    const start = await callApi(`POST /templates/${id}/builds/${buildId}`, bearer())
    expect(start.status).toBe(202)
    await withRawSandbox('POST /v2/sandboxes', { templateID: id }, async (sandbox) => {
      const { body } = await callApi(`GET /sandboxes/${sandbox.id}`)
      expect(body).toMatchObject({ templateID: id, cpuCount: 1, memoryMB: 256 })
    })
    expect((await callApi(`GET /templates/${id}`)).body).toMatchObject({ spawnCount: 1, lastSpawnedAt: dateTime })
  })

  test.each([
    [{}, 400, /^validation error/],
    [{ dockerfile: 7 }, 400, /^validation error/],
    [{ dockerfile: 'FROM debian:bookworm-slim\nCOPY app /app' }, 400, /COPY/],
    [{ dockerfile: 'FROM debian:bookworm-slim\nRUN <<EOF\ntrue\nEOF' }, 400, /2/],
    [{ dockerfile: 'FROM debian:bookworm-slim\nRUN --mount=type=cache,target=/x true' }, 400, /2/],
    [{ dockerfile: 'FROM debian:bookworm-slim', alias: 'no spaces' }, 400, /^Invalid alias: /],
    [{ dockerfile: 'FROM debian:bookworm-slim', memoryMB: 100 }, 400, /^validation error/],
  ])('is refused: %j', async (body, code, message) => {
    const answer = await callApi(`POST /templates/${id}`, { ...bearer(), body })
    expect(answer).toMatchObject({ status: code, body: { code, message: expect.stringMatching(message) } })
  })

  test('is refused for an unknown template and with the key of a team', async () => {
    const body = { dockerfile }
    const missing = await callApi(`POST /templates/${unknownId}`, { ...bearer(), body })
    expect(missing).toMatchObject({ status: 404, body: { code: 404, message: `Template '${unknownId}' not found` } })
    expect(await callApi(`POST /templates/${id}`, { body })).toMatchObject({ status: 401, body: { code: 401 } })
  })
})

describe('[GET /templates/{templateID}]', () => {
  const name = templateName('pages')
  let id = ''
  const builds: string[] = []

  beforeAll(async () => {
    for (let index = 0; index < 3; index += 1) {
      const answer = registered(await callApi('POST /v3/templates', { body: { name, tags: [`t${index}`] } }))
      id = answer.id
      builds.unshift(answer.buildId)
    }
  })

  test('returns every field of the table, and the builds', async () => {
    const answer = await callApi(`GET /templates/${id}`)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } })
    expect(answer.body).toMatchObject({
      templateID: id,
      public: false,
      aliases: [name],
      names: [expect.stringMatching(new RegExp(`^[a-z0-9-]+/${name}$`))],
      createdAt: dateTime,
      updatedAt: dateTime,
      lastSpawnedAt: null,
      spawnCount: 0,
    })
    const waiting = {
      createdAt: dateTime,
      updatedAt: dateTime,
      cpuCount: 2,
      memoryMB: 1024,
      diskSizeMB: integerFrom(0),
      envdVersion: '0.6.13',
    }
    expect(answer.body['builds']).toEqual(builds.map((buildID) => ({ buildID, status: 'waiting', ...waiting })))
  })

  test('returns the builds in pages', async () => {
    const seen: unknown[] = []
    let token: string | undefined = ''
    while (token !== undefined) {
      const page: ApiAnswer = await callApi(`GET /templates/${id}?limit=2${token === '' ? '' : `&nextToken=${encodeURIComponent(token)}`}`)
      expect(page.status).toBe(200)
      seen.push(...(page.body['builds'] as { buildID: string }[]).map(({ buildID }) => buildID))
      token = page.headers['x-next-token'] as string | undefined
    }
    expect(seen).toEqual(builds)
    expect((await callApi(`GET /templates/${id}?limit=1`)).body['builds']).toHaveLength(1)
    expect((await callApi(`GET /templates/${id}?limit=100`)).body['builds']).toHaveLength(3)
  })

  test.each([
    ['?limit=0', 400, /^validation error/],
    ['?limit=101', 400, /^validation error/],
    ['?limit=x', 400, /^validation error/],
    ['?nextToken=nonsense', 400, /^Invalid next token$/],
  ])('refuses the query %s', async (query, code, message) => {
    expect(await callApi(`GET /templates/${id}${query}`)).toMatchObject({
      status: code,
      body: { code, message: expect.stringMatching(message) },
    })
  })

  test('finds a template only by its id', async () => {
    for (const other of [unknownId, name, 'base']) {
      const answer = await callApi(`GET /templates/${other}`)
      expect(answer, other).toMatchObject({ status: 404, body: { code: 404, message: `Template ${other} not found` } })
    }
  })
})

describe.each(['PATCH /templates', 'PATCH /v2/templates'])('[%s/{templateID}]', (operation) => {
  test('changes who may use a template, and returns its names', async () => {
    const name = templateName('patch')
    const { id } = registered(await callApi('POST /v3/templates', { body: { name } }))
    const names = expect.arrayContaining([expect.stringMatching(new RegExp(`^[a-z0-9-]+/${name}$`))])
    for (const [body, isPublic] of [
      [{ public: true }, true],
      [{}, true],
      [{ public: false }, false],
    ] as const) {
      const answer = await callApi(`${operation}/${id}`, { body })
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } })
      expect(answer.body).toEqual({ names })
      expect((await callApi(`GET /templates/${id}`)).body).toMatchObject({ public: isPublic })
    }
    expect(await callApi(`${operation}/${name}`, { body: { public: true } })).toMatchObject({ status: 200 })
    expect((await callApi(`GET /templates/${id}`)).body).toMatchObject({ public: true })
  })

  test.each([
    ['base', { public: 'yes' }, 400, /^validation error/],
    ['no spaces', {}, 400, /^Invalid template ID: /],
    ['never-made', { public: true }, 404, /^template 'never-made' not found$/],
  ])('refuses %s with %j', async (reference, body, code, message) => {
    const answer = await callApi(`${operation}/${encodeURIComponent(reference)}`, { body })
    expect(answer).toMatchObject({ status: code, body: { code, message: expect.stringMatching(message) } })
  })
})

describe('[GET /templates] [GET /v2/templates] [DELETE /templates/{templateID}]', () => {
  test('list the templates of the team in pages, until they are deleted', async () => {
    const name = templateName('listed')
    const { id } = registered(await callApi('POST /v3/templates', { body: { name } }))
    const [item] = (await listed('GET /v2/templates?limit=1')).items
    const shape = { ...legacy(name, expect.stringMatching(new RegExp(`^[a-z0-9-]+/${name}$`))), isDefault: false }
    expect(item).toEqual({ ...shape, templateID: id, buildID: '00000000-0000-0000-0000-000000000000' })
    expect((await listed('GET /templates')).items.find((template) => template['templateID'] === id)).toEqual(item)

    expect(await callApi(`DELETE /templates/${name}`)).toMatchObject({ status: 204, text: '' })
    expect(await callApi(`GET /templates/${id}`)).toMatchObject({ status: 404 })
    expect(await callApi(`DELETE /templates/${id}`)).toMatchObject({ status: 204 })
    expect(await callApi(`DELETE /templates/${name}`)).toMatchObject({ status: 404, body: { message: `template '${name}' not found` } })
    expect((await listed('GET /templates')).items.map((template) => template['templateID'])).not.toContain(id)
  })

  test('[GET /v2/templates] returns each template on one page only', async () => {
    for (let index = 0; index < 3; index += 1) registered(await callApi('POST /v3/templates', { body: { name: templateName('page') } }))
    const seen: unknown[] = []
    let token: string | undefined = ''
    while (token !== undefined) {
      const page: Page = await listed(`GET /v2/templates?limit=2${token === '' ? '' : `&nextToken=${encodeURIComponent(token)}`}`)
      seen.push(...page.items.map((template) => template['templateID']))
      token = page.next
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBeGreaterThanOrEqual(4)
    expect(await callApi('GET /v2/templates?nextToken=nonsense')).toMatchObject({ status: 400, body: { code: 400 } })
  })
})

interface Page {
  readonly items: readonly Record<string, unknown>[]
  readonly next: string | undefined
}

async function listed(operation: string): Promise<Page> {
  const answer = await callApi(operation)
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } })
  return { items: JSON.parse(answer.text) as Record<string, unknown>[], next: answer.headers['x-next-token'] as string | undefined }
}
