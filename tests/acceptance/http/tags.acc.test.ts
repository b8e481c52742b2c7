import { Template } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { dateTime, integerFrom, uuid } from '../support/shapes.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

const json = 'application/json; charset=utf-8'
const name = templateName('raw-tags')
let id = ''
let buildId = ''

beforeAll(async () => {
  const built = await buildTemplate(Template().fromTemplate('base'), `${name}:v1`)
  id = built.templateId
  buildId = built.buildId
}, 200_000)

afterAll(removeTemplates)

describe('[POST /templates/tags]', () => {
  test('returns 201 with the tags and the build, for a tag and for a build as the target', async () => {
    for (const target of [`${name}:v1`, `${name}:${buildId}`, `${id}:v1`]) {
      const answer = await callApi('POST /templates/tags', { body: { target, tags: [' One', 'one', 'two'] } })
      expect(answer).toMatchObject({ status: 201, headers: { 'content-type': json } })
      expect(answer.body).toEqual({ tags: expect.toSatisfy((tags: string[]) => tags.toSorted().join() === 'one,two'), buildID: buildId })
    }
  })

  test.each([
    [{}, 400, /^validation error/],
    [{ target: `${name}:v1` }, 400, /^validation error/],
    [{ target: 7, tags: ['x'] }, 400, /^validation error/],
    [{ target: `${name}:v1`, tags: [] }, 400, /^At least one tag is required$/],
    [{ target: ':v1', tags: ['x'] }, 400, /^Invalid target template format: /],
    [{ target: `${name}:`, tags: ['x'] }, 400, /^Invalid target template format: /],
    [{ target: `other-team/${name}:v1`, tags: ['x'] }, 400, /^namespace 'other-team' must match your team '[a-z0-9-]+'$/],
    [{ target: 'never-made:v1', tags: ['x'] }, 404, /^template 'never-made.*' not found$/],
    [{ target: `${name}:never`, tags: ['x'] }, 404, /^Template '.+' with tag 'never' not found$/],
    [{ target: name, tags: ['x'] }, 404, /^Template '.+' with tag 'default' not found$/],
    [{ target: `${name}:v1`, tags: ['has space'] }, 400, /^Invalid tag: /],
    [{ target: `${name}:v1`, tags: [''] }, 400, /^Invalid tag: /],
  ])('refuses %j', async (body, code, message) => {
    const answer = await callApi('POST /templates/tags', { body })
    expect(answer).toMatchObject({ status: code, headers: { 'content-type': json } })
    expect(answer.body).toEqual({ code, message: expect.stringMatching(message) })
  })
})

describe('[GET /templates/{templateID}/tags] [DELETE /templates/tags]', () => {
  test('lists a row for each tag, by id and by name, without removed tags', async () => {
    await callApi('POST /templates/tags', { body: { target: `${name}:v1`, tags: ['b', 'a'] } })
    for (const reference of [id, name, `${name}:ignored`]) {
      const answer = await callApi(`GET /templates/${encodeURIComponent(reference)}/tags`)
      const rows = JSON.parse(answer.text) as { tag: string }[]
      expect(answer.status).toBe(200)
      expect(rows.filter(({ tag }) => /^(a|b|v1)$/.test(tag))).toEqual(
        ['a', 'b', 'v1'].map((tag) => ({ tag, buildID: uuid, createdAt: dateTime })),
      )
    }
    const removed = await callApi('DELETE /templates/tags', { body: { name, tags: ['a', 'b', 'never-there'] } })
    expect(removed).toMatchObject({ status: 204, text: '' })
    expect((await callApi(`GET /templates/${id}/tags`)).text).not.toMatch(/"tag":"[ab]"/)
  })

  test.each([
    [{ name, tags: [] }, 400, /^At least one tag is required$/],
    [{ name, tags: ['default'] }, 400, /^Cannot delete the 'default' tag$/],
    [{ name, tags: ['has space'] }, 400, /^Invalid tag: /],
    [{ name: `${name}:v1`, tags: ['x'] }, 400, /^Template name should not contain a tag, use the 'tags' field instead$/],
    [{ name: 'no spaces', tags: ['x'] }, 400, /^Invalid template name format: /],
    [{ name: 'never-made', tags: ['x'] }, 404, /^template 'never-made' not found$/],
    [{ tags: ['x'] }, 400, /^validation error/],
  ])('[DELETE /templates/tags] refuses %j', async (body, code, message) => {
    expect(await callApi('DELETE /templates/tags', { body })).toMatchObject({
      status: code,
      body: { code, message: expect.stringMatching(message) },
    })
  })
})

describe('[GET /templates/aliases/{alias}]', () => {
  test('returns the owner of the name', async () => {
    const answer = await callApi(`GET /templates/aliases/${name}`)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } })
    expect(answer.body).toEqual({ templateID: id, public: false })
    expect(await callApi(`GET /templates/aliases/${encodeURIComponent(`${name}:v1`)}`)).toMatchObject({ status: 200 })
  })

  test.each([
    [`${name}:never`, 404, /^tag 'never' does not exist for template '.+'$/],
    ['never-made', 404, /^template 'never-made' not found$/],
    ['no spaces', 400, /^Invalid alias format: /],
    ['other-team/x', 400, /^namespace 'other-team' must match your team '[a-z0-9-]+'$/],
  ])('refuses %s', async (alias, code, message) => {
    const answer = await callApi(`GET /templates/aliases/${encodeURIComponent(alias)}`)
    expect(answer).toMatchObject({ status: code, body: { code, message: expect.stringMatching(message) } })
  })
})

describe('the newer operations of tags', () => {
  const assignment = { assignmentId: uuid, buildId: uuid, assignedAt: dateTime, buildCreatedAt: dateTime, buildFinishedAt: dateTime }

  beforeAll(async () => {
    for (const tags of [['moved', 'zz'], ['moved']]) await callApi('POST /templates/tags', { body: { target: `${name}:v1`, tags } })
  })

  test('[GET /templates/{templateID}/tags/count] [GET /templates/{templateID}/tags/exists] count and find', async () => {
    const rows = JSON.parse((await callApi(`GET /templates/${id}/tags`)).text) as unknown[]
    expect((await callApi(`GET /templates/${id}/tags/count`)).body).toEqual({ total: rows.length })
    expect((await callApi(`GET /templates/${id}/tags/exists?tag=MOVED`)).body).toEqual({ exists: true, normalizedTag: 'moved' })
    expect((await callApi(`GET /templates/${id}/tags/exists?tag=never`)).body).toEqual({ exists: false, normalizedTag: 'never' })
    for (const query of ['', '?tag=has%20space']) {
      expect(await callApi(`GET /templates/${id}/tags/exists${query}`)).toMatchObject({ status: 400, body: { code: 400 } })
    }
  })

  test('[GET /templates/{templateID}/tags/{tag}/assignments] lists the builds that had the tag, newest first', async () => {
    const path = `GET /templates/${id}/tags/moved/assignments`
    const { data, nextCursor } = (await callApi(path)).body as { data: { assignmentId: string }[]; nextCursor: unknown }
    expect([data, nextCursor]).toEqual([[assignment, assignment], null])
    const first = (await callApi(`${path}?limit=1`)).body as { data: unknown[]; nextCursor: string }
    expect(first.data).toEqual(data.slice(0, 1))
    const second = await callApi(`${path}?limit=1&cursor=${encodeURIComponent(first.nextCursor)}`)
    expect(second.body).toEqual({ data: data.slice(1), nextCursor: null })
    expect(await callApi(`GET /templates/${'0'.repeat(20)}/tags/moved/assignments`)).toMatchObject({ status: 404, body: { code: 404 } })
  })

  test('[GET /templates/{templateID}/tags/groups] groups them, searched and sorted', async () => {
    const path = `GET /templates/${id}/tags/groups`
    const group = { tag: 'moved', assignments: [assignment], hasMore: true }
    const found = await callApi(`${path}?search=MOV&assignmentLimit=1&sort=name_asc`)
    expect(found.body).toEqual({ tags: [group], nextCursor: null })
    const page = (await callApi(`${path}?sort=name_desc&tagsLimit=1`)).body as { tags: { tag: string }[]; nextCursor: string }
    expect(page.tags.map(({ tag }) => tag)).toEqual(['zz'])
    const other = await callApi(`${path}?sort=name_asc&tagsCursor=${encodeURIComponent(page.nextCursor)}`)
    expect(other).toMatchObject({ status: 400, body: { code: 400 } })
  })

  test('[GET /default-templates] returns the base template in a list', async () => {
    const answer = await callApi('GET /default-templates')
    const [base] = JSON.parse(answer.text) as Record<string, unknown>[]
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } })
    expect(base).toMatchObject({ aliases: ['base'], names: ['base'], public: true, buildStatus: 'ready', isDefault: true, buildID: uuid })
    const { body } = await callApi(`GET /templates/${String(base?.['templateID'])}?limit=1`)
    const sizes = { cpuCount: integerFrom(1), memoryMB: integerFrom(128), diskSizeMB: integerFrom(0), envdVersion: '0.6.13' }
    expect(body).toMatchObject({ ...sizes, buildID: uuid, buildCount: integerFrom(1), createdBy: { id: uuid }, buildStatus: 'ready' })
    expect(body['builds']).toEqual([
      { ...sizes, buildID: base?.['buildID'], status: 'ready', createdAt: dateTime, updatedAt: dateTime, finishedAt: dateTime },
    ])
  })
})
