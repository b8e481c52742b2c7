import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi, type ApiCall } from '../support/api.ts'
import { bearer, endOfBuild } from '../support/builds.ts'
import { rawRequest } from '../support/raw-http.ts'
import { dateTime } from '../support/shapes.ts'
import { removeLater, removeTemplates, templateName } from '../support/templates.ts'

const unknownId = '0'.repeat(20)
const unknownBuild = '5f8c2b7e-3f0a-4f43-9f5e-0d7f0f9ad9f1'

interface Registered {
  readonly id: string
  readonly buildId: string
}

async function register(name = templateName('raw-build')): Promise<Registered> {
  const { body } = await callApi('POST /v3/templates', { body: { name } })
  removeLater(String(body['templateID']))
  return { id: String(body['templateID']), buildId: String(body['buildID']) }
}

let waiting: Registered

beforeAll(async () => {
  waiting = await register()
})

afterAll(removeTemplates)

describe('[POST /v2/templates/{templateID}/builds/{buildID}]', () => {
  test('returns an empty 202; the build is in progress at once and can be started only once', async () => {
    const { id, buildId } = await register()
    const start = `POST /v2/templates/${id}/builds/${buildId}`
    const body = { fromTemplate: 'base', steps: [{ type: 'run', args: ['echo ran'], anything: 'else' }] }
    expect(await callApi(start, { body })).toMatchObject({ status: 202, text: '' })
    expect((await callApi(`GET /templates/${id}/builds/${buildId}/status`)).body).toMatchObject({
      status: expect.stringMatching(/^(building|ready)$/),
    })
    expect(await callApi(start, { body })).toMatchObject({ status: 400, body: { code: 400, message: 'build is not in waiting state' } })
    expect(await endOfBuild(id, buildId)).toMatchObject({ status: 'ready' })
  })

  test.each<[string, unknown, RegExp]>([
    [
      'both sources',
      { fromImage: 'debian', fromTemplate: 'base' },
      /^Error when starting template build: .*cannot specify both fromImage and fromTemplate$/,
    ],
    ['neither source', { steps: [] }, /^Error when starting template build: .*must specify either fromImage or fromTemplate$/],
  ])('returns 500 for %s, and the build has failed', async (_, body, message) => {
    const { id, buildId } = await register()
    const answer = await callApi(`POST /v2/templates/${id}/builds/${buildId}`, { body })
    expect(answer).toMatchObject({ status: 500, body: { code: 500, message: expect.stringMatching(message) } })
    expect((await callApi(`GET /templates/${id}/builds/${buildId}/status`)).body).toMatchObject({ status: 'error' })
  })

  test.each<[string, unknown, string, string | RegExp]>([
    ['a template that is not there', { fromTemplate: 'never-made' }, 'base', /never-made/],
    [
      'an unknown type of step',
      { fromTemplate: 'base', steps: [{ type: 'LABEL', args: ['x'] }] },
      '1',
      // Wire text for an unknown step type (control-plane.md 11.4).
      'command type LABEL is not implemented',
    ],
    ['RUN without a command', { fromTemplate: 'base', steps: [{ type: 'RUN' }] }, '1', 'RUN requires command argument'],
    [
      'ENV without a value',
      {
        fromTemplate: 'base',
        steps: [
          { type: 'USER', args: ['user'] },
          { type: 'ENV', args: ['K'] },
        ],
      },
      '2',
      'ENV requires both a key and value arguments',
    ],
    [
      'COPY without files',
      { fromTemplate: 'base', steps: [{ type: 'COPY', args: ['a', 'b'] }] },
      '1',
      'COPY requires files hash to be set',
    ],
  ])('fails the build for %s', async (_, body, step, message) => {
    const { id, buildId } = await register()
    expect((await callApi(`POST /v2/templates/${id}/builds/${buildId}`, { body })).status).toBe(202)
    const { status, reason, logEntries, logs } = await endOfBuild(id, buildId)
    const text = typeof message === 'string' ? message : expect.stringMatching(message)
    expect({ status, reason }).toEqual({ status: 'error', reason: { step, message: text, logEntries: expect.any(Array) } })
    expect(logs).toEqual([])
    const entry = { timestamp: dateTime, message: expect.any(String), level: expect.stringMatching(/^(debug|info|warn|error)$/) }
    for (const line of logEntries as { step?: string }[])
      expect(line).toEqual(line.step === undefined ? entry : { ...entry, step: line.step })
  })

  test.each<[string, ApiCall, number, RegExp]>([
    [`${unknownId}/builds/${unknownBuild}`, { body: { fromTemplate: 'base' } }, 404, /^Error when getting template: /],
    ['OWN/builds/no-uuid', { body: { fromTemplate: 'base' } }, 400, /^Invalid build ID: no-uuid$/],
    [`OWN/builds/${unknownBuild}`, { body: { fromTemplate: 'base' } }, 404, /^Error when getting template: /],
    ['OWN/builds/BUILD', { text: '{' }, 400, /^Invalid request body: /],
    ['OWN/builds/BUILD', { body: { fromTemplate: 'base', steps: 'x' } }, 400, /./],
    ['OWN/builds/BUILD', { body: { fromImage: 'x', fromImageRegistry: { type: 'nope' } } }, 400, /./],
  ])('refuses %s with %j', async (path, call, code, message) => {
    const filled = path.replace('OWN', waiting.id).replace('BUILD', waiting.buildId)
    expect(await callApi(`POST /v2/templates/${filled}`, call)).toMatchObject({
      status: code,
      body: { code, message: expect.stringMatching(message) },
    })
  })
})

describe('[GET /templates/{templateID}/builds/{buildID}/status] [GET /templates/{templateID}/builds/{buildID}/logs]', () => {
  test('return the status of a waiting build', async () => {
    const path = `/templates/${waiting.id}/builds/${waiting.buildId}`
    const shape = { templateID: waiting.id, buildID: waiting.buildId, status: 'waiting', logs: [], logEntries: [] }
    expect((await callApi(`GET ${path}/status`)).body).toEqual(shape)
    expect((await callApi(`GET ${path}/logs`)).body).toEqual({ logs: [] })
    expect((await callApi(`GET ${path}/status`, bearer())).body).toEqual(shape)
  })

  test('return the log by offset and level', async () => {
    const { id, buildId } = await register()
    const steps = [{ type: 'RUN', args: ['for i in $(seq 5); do echo "line $i"; done; echo bad >&2; exit 1'] }]
    await callApi(`POST /v2/templates/${id}/builds/${buildId}`, { body: { fromTemplate: 'base', steps } })
    await endOfBuild(id, buildId)
    const read = async (query: string): Promise<{ message: string; level: string }[]> =>
      (await callApi(`GET /templates/${id}/builds/${buildId}/status${query}`)).body['logEntries'] as { message: string; level: string }[]
    const all = await read('')
    expect(await read('?logsOffset=2&limit=3')).toEqual(all.slice(2, 5))
    expect(await read(`?logsOffset=${all.length}`)).toEqual([])
    expect(await read('?limit=0')).toEqual([])
    const errors = await read('?level=error')
    expect(errors.map(({ level }) => level)).toEqual(errors.map(() => 'error'))
    expect(errors.at(-1)?.message).toMatch(/^Build failed: failed to run command /)
    const { logs } = (await callApi(`GET /templates/${id}/builds/${buildId}/logs?direction=backward&limit=1`)).body
    expect(logs).toEqual([all.at(-1)])
  })

  test.each([
    ['OWN/builds/no-uuid/status', 400, /^Invalid build id$/],
    [`OWN/builds/${unknownBuild}/status`, 400, new RegExp(`^Build '${unknownBuild}' not found$`)],
    [`OWN/builds/${unknownBuild}/logs`, 400, new RegExp(`^Build '${unknownBuild}' not found$`)],
    ['OWN/builds/BUILD/status?limit=101', 400, /^validation error/],
    ['OWN/builds/BUILD/status?logsOffset=-1', 400, /^validation error/],
    ['OWN/builds/BUILD/status?level=loud', 400, /^validation error/],
  ])('refuse %s', async (path, code, message) => {
    const filled = path.replace('OWN', waiting.id).replace('BUILD', waiting.buildId)
    expect(await callApi(`GET /templates/${filled}`)).toMatchObject({
      status: code,
      body: { code, message: expect.stringMatching(message) },
    })
  })
})

describe('[GET /templates/{templateID}/files/{hash}] [PUT /uploads/{teamID}/{hash}]', () => {
  test('return an upload URL that needs no key and whose signature is valid for one hash', async () => {
    const hash = createHash('sha256').update(templateName('content')).digest('hex')
    const ask = `GET /templates/${waiting.id}/files/${hash}`
    const first = await callApi(ask)
    expect(first).toMatchObject({ status: 201, body: { present: false, url: expect.any(String) } })
    const url = new URL(String(first.body['url']))
    const put = async (target: URL, body: Uint8Array): Promise<number> =>
      (
        await rawRequest(target.origin, {
          method: 'PUT',
          path: `${target.pathname}${target.search}`,
          headers: { 'content-length': String(body.length) },
          body,
        })
      ).status

    const archive = gzipSync(Buffer.alloc(1024))
    const forged = new URL(url.href.replace(hash, hash.replaceAll(/./g, '0')))
    expect(await put(forged, archive)).toBe(403)
    expect(await put(new URL(url.pathname, url), archive)).toBeGreaterThanOrEqual(400)
    expect((await callApi(ask)).body).toMatchObject({ present: false })
    expect(await put(url, archive)).toBe(200)
    expect((await callApi(ask)).body).toMatchObject({ present: true, url: expect.any(String) })
  })

  test.each([
    ['OWN/files/nonsense', 400, /^Invalid files hash$/],
    [`OWN/files/${'A'.repeat(64)}`, 400, /^Invalid files hash$/],
    [`${unknownId}/files/${'a'.repeat(64)}`, 404, /^Error when getting template: /],
  ])('refuse %s', async (path, code, message) => {
    const answer = await callApi(`GET /templates/${path.replace('OWN', waiting.id)}`)
    expect(answer).toMatchObject({ status: code, body: { code, message: expect.stringMatching(message) } })
  })
})

test('every operation of templates checks its kind of credential before anything else', async () => {
  const path = `/templates/${waiting.id}`
  const build = `${path}/builds/${waiting.buildId}`
  const ofTeams = [
    'POST /v2/templates',
    'POST /v3/templates',
    `GET ${path}?limit=nonsense`,
    'POST /templates/tags',
    'DELETE /templates/tags',
    `GET ${path}/tags`,
    'GET /templates/aliases/base',
    `POST /v2${build}`,
  ]
  const ofBoth = [
    'GET /templates',
    'GET /v2/templates',
    `PATCH ${path}`,
    `PATCH /v2${path}`,
    `GET ${path}/files/x`,
    `GET ${build}/status`,
    `GET ${build}/logs`,
  ]
  const ofUsers = ['POST /templates', `POST ${path}`, `POST ${build}`]
  const refused = { status: 401, body: { code: 401, message: expect.any(String) } }
  for (const operation of [...ofTeams, ...ofBoth, ...ofUsers, `DELETE ${path}`])
    expect(await callApi(operation, { key: false }), operation).toMatchObject(refused)
  for (const operation of ofTeams) expect(await callApi(operation, bearer()), operation).toMatchObject(refused)
  for (const operation of ofUsers) expect(await callApi(operation, { text: '{' }), operation).toMatchObject(refused)
  for (const operation of ofBoth) expect((await callApi(operation, bearer())).status, operation).not.toBe(401)
})
