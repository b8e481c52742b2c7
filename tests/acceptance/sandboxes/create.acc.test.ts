import { describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { rawRequest } from '../support/raw-http.ts'
import { withRawSandbox, type RawSandbox } from '../support/raw-sandbox.ts'
import { server } from '../support/server.ts'
import { daemonPort, headerForm, throughProxy } from '../support/through-proxy.ts'

const routes = ['POST /sandboxes', 'POST /v2/sandboxes'] as const
const hmac = expect.stringMatching(/^[0-9a-f]{64}$/)

async function seconds(id: string): Promise<number> {
  const { body } = await callApi(`GET /sandboxes/${id}`)
  return (Date.parse(String(body['endAt'])) - Date.parse(String(body['startedAt']))) / 1000
}

/** The daemon's answers to one RPC and one file request with `token`. */
async function statuses({ id }: Pick<RawSandbox, 'id'>, token?: string): Promise<number[]> {
  const headers = { ...headerForm({ sandboxId: id }, daemonPort), ...(token === undefined ? {} : { 'x-access-token': token }) }
  const list = { method: 'POST', path: '/process.Process/List', body: '{}' }
  const rpcHeaders = { 'content-type': 'application/json', 'connect-protocol-version': '1', 'content-length': '2' }
  const rpc = await throughProxy(headers, { ...list, headers: rpcHeaders })
  const file = await throughProxy(headers, { path: '/files?path=/etc/hostname' })
  return [rpc.status, file.status]
}

describe.each(routes)('[%s]', (route) => {
  test('returns 201 with the fields that every client reads', async () => {
    await withRawSandbox(route, { secure: true, metadata: { a: 'b' } }, async ({ id, answer }) => {
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body).toMatchObject({
        templateID: expect.stringMatching(/^[a-z0-9]{20}$/),
        sandboxID: expect.stringMatching(/^i[a-z0-9]{20}$/),
        clientID: '6532622b',
        envdVersion: '0.6.13',
        alias: 'base',
        envdAccessToken: hmac,
        domain: expect.stringMatching(/./),
      })
      expect(answer.body['trafficAccessToken'] ?? null).toBeNull()
      expect(await callApi(`GET /sandboxes/${id}`)).toMatchObject({ status: 200, body: { state: 'running', metadata: { a: 'b' } } })
    })
  })

  test('finds the base template by each of its names', async () => {
    await withRawSandbox(route, {}, async ({ answer }) => {
      const templateID = String(answer.body['templateID'])
      const names = [templateID, 'base:default', ' BASE ', 'e2bdev/base', `${templateID}:default`]
      const found = names.map((name) => withRawSandbox(route, { templateID: name }, async (other) => other.answer.body['templateID']))
      expect(await Promise.all(found)).toEqual(names.map(() => templateID))
    })
  })

  test('refuses an invalid body', async () => {
    const invalid = expect.stringMatching(/^validation error/)
    const refusals: [Record<string, unknown>, number, unknown][] = [
      [{ templateID: undefined }, 400, invalid],
      [{ templateID: 7 }, 400, invalid],
      [{ timeout: -1 }, 400, invalid],
      [{ timeout: 1.5 }, 400, invalid],
      [{ timeout: 'soon' }, 400, invalid],
      [{ metadata: { a: 1 } }, 400, invalid],
      [{ envVars: ['A=b'] }, 400, invalid],
      [{ timeout: 0 }, 400, 'Timeout must be greater than 0'],
      [{ timeout: 2_000_000_000 }, 400, expect.stringMatching(/^Timeout cannot be greater than \d+ hours$/)],
      [{ templateID: 'bad name!' }, 400, 'Invalid template reference: invalid template ID: bad name!'],
      [{ templateID: 'base:bad tag' }, 400, 'Invalid template reference: invalid tag: bad tag'],
      [{ templateID: 'b@d/base' }, 400, 'Invalid template reference: invalid namespace: b@d'],
      [{ templateID: 'no-such-template' }, 404, "template 'no-such-template' not found"],
      [{ templateID: 'base:v9' }, 404, "tag 'v9' does not exist for template 'base'"],
    ]
    for (const [fields, code, message] of refusals) {
      const answer = await callApi(route, { body: { templateID: 'base', ...fields } })
      expect(answer, JSON.stringify(fields)).toMatchObject({ status: code, body: { code, message } })
    }
    for (const text of ['', '{', '[]', 'null', '"base"']) {
      const answer = await callApi(route, { text })
      expect(answer, text).toMatchObject({ status: 400, body: { code: 400 } })
    }
  })

  test('accepts a chunked body and ignores unknown fields', async () => {
    const answer = await rawRequest(server.apiUrl, {
      method: 'POST',
      path: route.split(' ')[1] ?? '',
      headers: { 'x-api-key': server.apiKey, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body: JSON.stringify({ templateID: 'base', unheardOf: { x: 1 } }),
    })
    expect(answer.status).toBe(201)
    const { sandboxID } = JSON.parse(answer.text) as { sandboxID: string }
    expect(await callApi(`DELETE /sandboxes/${sandboxID}`)).toMatchObject({ status: 204, text: '' })
  })
})

test('[POST /sandboxes] creates a sandbox without a token for 15 seconds by default', async () => {
  await withRawSandbox('POST /sandboxes', {}, async ({ id, answer }) => {
    expect(answer.body['envdAccessToken'] ?? null).toBeNull()
    expect(await statuses({ id })).toEqual([200, 200])
    expect(await seconds(id)).toBeGreaterThanOrEqual(15)
    expect(await seconds(id)).toBeLessThan(60)
  })
})

test('[POST /v2/sandboxes] creates a sandbox that requires its token, unless secure is false, for 300 seconds', async () => {
  await withRawSandbox('POST /v2/sandboxes', {}, async (closed) => {
    await withRawSandbox('POST /v2/sandboxes', { secure: false }, async (open) => {
      expect(closed.answer.body['envdAccessToken']).toEqual(hmac)
      expect(open.answer.body['envdAccessToken'] ?? null).toBeNull()
      expect(await statuses(closed)).toEqual([401, 401])
      expect(await statuses(closed, 'f'.repeat(64))).toEqual([401, 401])
      expect(await statuses(closed, closed.token)).toEqual([200, 200])
      expect(await statuses(open)).toEqual([200, 200])
      expect(await seconds(closed.id)).toBeGreaterThanOrEqual(300)
      expect(await seconds(closed.id)).toBeLessThan(360)
    })
  })
})

test('[POST /sandboxes] with secure creates a token that is valid for one sandbox only', async () => {
  await withRawSandbox('POST /sandboxes', { secure: true }, async (one) => {
    await withRawSandbox('POST /sandboxes', { secure: true }, async (two) => {
      expect(one.token).not.toBe(two.token)
      expect(await statuses(one, two.token)).toEqual([401, 401])
      expect(await statuses(one, one.token)).toEqual([200, 200])
    })
  })
})
