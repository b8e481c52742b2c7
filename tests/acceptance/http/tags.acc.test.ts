import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { dateTime, uuid } from '../support/shapes.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'
import { Template } from 'e2b'

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
  test('answers 201 with the tags and the build, for a tag and for a build as the target', async () => {
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
  test('lists a row for each tag, by id and by name, and forgets what is removed', async () => {
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
  test('says whose name it is', async () => {
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
