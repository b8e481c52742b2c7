import { describe, expect, test } from 'vitest'
import { type ApiCall, callApi, unknownSandboxId } from '../support/api.ts'
import { fromEnvironment } from '../support/server.ts'

const json = 'application/json; charset=utf-8'

describe('the JSON error body', () => {
  test.each<[string, ApiCall, number, RegExp]>([
    ['GET /no/such/route', {}, 404, /^validation error: /],
    ['GET /', {}, 404, /^validation error: /],
    ['PUT /sandboxes', {}, 404, /^validation error: /],
    ['GET /instances', {}, 404, /^Endpoints are deprecated, please update your SDK to use the new endpoints\.$/],
    ['GET /envs/x', {}, 404, /^Endpoints are deprecated, please update your SDK to use the new endpoints\.$/],
    ['GET /%', {}, 400, /./],
    ['POST /v2/sandboxes', { text: '{' }, 400, /./],
    ['POST /v2/sandboxes', { text: 'x', headers: { 'content-type': 'text/plain' } }, 400, /./],
    ['POST /v2/sandboxes', { text: JSON.stringify({ templateID: 'x'.repeat(17 * 1024 * 1024) }) }, 413, /./],
    [`POST /sandboxes/${unknownSandboxId}/timeout`, { body: {} }, 400, /^validation error/],
  ])('%s returns it', async (operation, call, code, message) => {
    const answer = await callApi(operation, call)
    expect(answer).toMatchObject({ status: code, headers: { 'content-type': json } })
    expect(answer.body).toEqual({ code, message: expect.stringMatching(message) })
  })
})

test('[GET /health] needs no key', async () => {
  const answer = await callApi('GET /health', { key: false })
  expect(answer).toMatchObject({ status: 200, text: 'Health check successful' })
})

test('[GET /ready] reports that the database and the engine answer', async () => {
  expect(await callApi('GET /ready', { key: false })).toMatchObject({ status: 200 })
})

test('browsers may call from any origin', async () => {
  const asked = 'x-api-key,content-type,lang,lang_version,package_version,publisher,sdk_runtime,system,browser'
  const headers = { origin: 'https://app.test', 'access-control-request-method': 'POST', 'access-control-request-headers': asked }
  const preflight = await callApi('OPTIONS /v2/sandboxes', { key: false, headers })
  expect(preflight.status).toBe(204)
  expect(preflight.headers['access-control-allow-origin']).toBe('*')
  const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase().split(/,\s*/)
  expect(allowed).toEqual(expect.arrayContaining(asked.split(',')))

  for (const call of [{}, { key: false }]) {
    const answer = await callApi('GET /v2/sandboxes', { ...call, headers: { origin: 'https://app.test' } })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(String(answer.headers['access-control-expose-headers']).toLowerCase()).toContain('x-next-token')
  }
})

describe('operations and fields that are not served yet', () => {
  /** The sum of the counter of such refusals. */
  async function counted(): Promise<number> {
    const metrics = await (await fetch(fromEnvironment('SANDYARD_TEST_METRICS_URL'))).text()
    const samples = metrics.split('\n').filter((line) => line.startsWith('sandyard_unimplemented_requests_total'))
    return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  test('[POST /sandboxes/{sandboxID}/snapshots] returns a 501 for memory and is counted', async () => {
    const before = await counted()
    const answer = await callApi('POST /sandboxes/i0/snapshots', { body: { memory: true } })
    expect(answer).toMatchObject({ status: 501, headers: { 'content-type': json } })
    expect(answer.body).toEqual({ code: 501, message: expect.stringMatching(/./) })
    expect(await counted()).toBe(before + 1)
  })

  test.each([
    [
      'its defaults',
      { autoPause: false, allow_internet_access: true, network: { allowPublicTraffic: true, allowOut: [] }, mcp: null, volumeMounts: [] },
    ],
  ])('[POST /v2/sandboxes] accepts such a field at %s', async (_, fields) => {
    const answer = await callApi('POST /v2/sandboxes', { body: { templateID: 'base', ...fields } })
    expect(answer.status).toBe(201)
    await callApi(`DELETE /sandboxes/${String(answer.body['sandboxID'])}`)
  })
})
