import { describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { withRawSandbox } from '../support/raw-sandbox.ts'
import { dateTime, integerFrom, templateId } from '../support/shapes.ts'

const hmac = expect.stringMatching(/^[0-9a-f]{64}$/)

/** The fields of the Sandbox table for a running sandbox that was created with a template only. */
const plain = {
  templateID: templateId,
  sandboxID: expect.stringMatching(/^i[a-z0-9]{20}$/),
  clientID: '6532622b',
  startedAt: dateTime,
  endAt: dateTime,
  envdVersion: '0.6.13',
  cpuCount: integerFrom(1),
  memoryMB: integerFrom(128),
  diskSizeMB: integerFrom(0),
  state: 'running',
  alias: 'base',
  envdAccessToken: null,
  allowInternetAccess: null,
  domain: null,
  metadata: {},
  network: { allowPublicTraffic: true, allowOut: [], denyOut: [] },
  lifecycle: { autoResume: false, onTimeout: 'kill' },
  volumeMounts: [],
}

const listed = [
  'templateID',
  'alias',
  'sandboxID',
  'clientID',
  'startedAt',
  'endAt',
  'cpuCount',
  'memoryMB',
  'diskSizeMB',
  'metadata',
  'state',
  'envdVersion',
  'volumeMounts',
]

describe('[GET /sandboxes/{sandboxID}]', () => {
  test('returns every field of the Sandbox table, with null where the table has null', async () => {
    await withRawSandbox('POST /sandboxes', {}, async ({ id }) => {
      const answer = await callApi(`GET /sandboxes/${id}`)
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } })
      expect(answer.body).toEqual(plain)
      expect(answer.body['sandboxID']).toBe(id)
    })
  })

  test('returns the fields of the create request', async () => {
    const asked = { secure: true, allow_internet_access: true, metadata: { team: 'ä', n: '1' }, timeout: 600 }
    await withRawSandbox('POST /sandboxes', asked, async ({ id, token }) => {
      const { body } = await callApi(`GET /sandboxes/${id}`)
      expect(body).toEqual({ ...plain, envdAccessToken: hmac, allowInternetAccess: true, metadata: asked.metadata })
      expect(body['envdAccessToken']).toBe(token)
    })
  })

  test('accepts an id with the suffix of older clients, and refuses an invalid id', async () => {
    await withRawSandbox('POST /v2/sandboxes', {}, async ({ id }) => {
      expect(await callApi(`GET /sandboxes/${id}-6532622b`)).toMatchObject({ status: 200, body: { sandboxID: id } })
      for (const wrong of ['UPPER', 'a-b-c', 'dot.ted', '%2e%2e', 'with%20space', '%00']) {
        const answer = await callApi(`GET /sandboxes/${wrong}`)
        expect(answer, wrong).toMatchObject({ status: 400, body: { code: 400, message: 'Invalid sandbox ID' } })
      }
    })
  })

  test('[GET /v2/sandboxes] lists the fields of the table without the secrets', async () => {
    await withRawSandbox('POST /v2/sandboxes', { metadata: { a: 'b' } }, async ({ id }) => {
      const { text } = await callApi('GET /v2/sandboxes')
      const items = JSON.parse(text) as Record<string, unknown>[]
      const item = items.find((candidate) => candidate['sandboxID'] === id) ?? {}
      const { body } = await callApi(`GET /sandboxes/${id}`)
      expect(item).toEqual(Object.fromEntries(listed.map((name) => [name, body[name]])))
    })
  })
})
