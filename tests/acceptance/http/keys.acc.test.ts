import { AuthenticationError, Sandbox } from 'e2b'
import { expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { fromEnvironment } from '../support/server.ts'

const authorization = `Bearer ${fromEnvironment('E2B_ACCESS_TOKEN')}`

/** The headers of the user who acts for the default team. */
async function asMember(): Promise<Record<string, string>> {
  const teams = await callApi('GET /teams', { key: false, headers: { authorization } })
  const all = JSON.parse(teams.text) as { teamID: string; isDefault: boolean }[]
  return { authorization, 'x-team-id': all.find(({ isDefault }) => isDefault)?.teamID ?? '' }
}

const list = (apiKey: string) => Sandbox.list({ apiKey, limit: 1 }).nextItems()

test('[POST /api-keys] [DELETE /api-keys/{apiKeyID}] a key works in the SDK until it is deleted', async () => {
  const headers = await asMember()
  const created = await callApi('POST /api-keys', { key: false, headers, body: { name: 'acceptance' } })
  expect(created.status).toBe(201)
  const { id, key } = created.body as { id: string; key: string }
  expect(Array.isArray(await list(key))).toBe(true)
  expect((await callApi('GET /api-keys', { key: false, headers })).text).not.toContain(key)
  expect((await callApi(`PATCH /api-keys/${id}`, { key: false, headers, body: { name: 'renamed' } })).status).toBe(202)
  expect((await callApi(`DELETE /api-keys/${id}`, { key: false, headers })).status).toBe(204)
  await expect.poll(() => list(key).catch((err: unknown) => err)).toBeInstanceOf(AuthenticationError)
})

test('[POST /api-keys] a key of the scope `read` lists in the SDK and creates nothing', async () => {
  const headers = await asMember()
  const created = await callApi('POST /api-keys', { key: false, headers, body: { name: 'reader', scope: 'read' } })
  const { id, key } = created.body as { id: string; key: string }
  try {
    expect(Array.isArray(await list(key))).toBe(true)
    await expect(Sandbox.create({ apiKey: key })).rejects.toThrow('This API key may only read.')
  } finally {
    await callApi(`DELETE /api-keys/${id}`, { key: false, headers })
  }
})

test('[GET /v2/sandboxes] a bearer token acts for a team of its user', async () => {
  const headers = await asMember()
  expect((await callApi('GET /v2/sandboxes?limit=1', { key: false, headers })).status).toBe(200)
  const none = await callApi('GET /v2/sandboxes', { key: false, headers: { authorization } })
  expect(none).toMatchObject({ status: 401, body: { message: 'Invalid auth provider token teamID.\nInvalid team ID' } })
})
