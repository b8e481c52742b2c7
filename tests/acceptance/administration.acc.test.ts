import { randomUUID } from 'node:crypto'
import { RateLimitError, Sandbox } from 'e2b'
import { expect, test, vi } from 'vitest'
import { callApi, type ApiAnswer } from './support/api.ts'
import { fromEnvironment, server } from './support/server.ts'

const operations = [
  '[POST /admin/teams] [GET /admin/teams/{teamID}] [PATCH /admin/teams/{teamID}] [DELETE /admin/teams/{teamID}] [POST /admin/users]',
  '[PUT /admin/teams/{teamID}/members/{userID}] [GET /admin/teams/{teamID}/members] [DELETE /admin/users/{userID}]',
  '[POST /admin/teams/{teamID}/api-keys] [GET /admin/teams/{teamID}/api-keys] [DELETE /admin/teams/{teamID}/api-keys/{apiKeyID}]',
  '[GET /teams/{teamID}/limits] [GET /nodes] [GET /nodes/{nodeID}] [GET /admin/sandboxes/running-counts]',
  '[POST /admin/teams/{teamID}/sandboxes/kill]',
].join(' ')

const adminToken = fromEnvironment('SANDYARD_TEST_ADMIN_TOKEN')

const admin = (operation: string, body?: unknown, token = adminToken): Promise<ApiAnswer> =>
  callApi(operation, { key: false, headers: { 'x-admin-token': token }, ...(body !== undefined && { body }) })
const done = async (operation: string, body?: unknown): Promise<ApiAnswer> => {
  const answer = await admin(operation, body)
  expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(300)
  return answer
}

test(`${operations} an administrator gives a team a limit and a key, sees its sandbox on a node, and ends both`, async () => {
  const slug = `acceptance-${randomUUID()}`
  for (const token of ['', `${adminToken}x`])
    expect((await admin('POST /admin/teams', { name: slug, email: 'a@b.test' }, token)).status).toBe(401)
  expect((await callApi('GET /nodes')).status).toBe(401)

  const { teamID } = (await done('POST /admin/teams', { name: slug, slug, email: 'a@b.test' })).body
  const team = `/admin/teams/${String(teamID)}`
  const { userID } = (await done('POST /admin/users', { email: `${slug}@b.test` })).body
  try {
    await done(`PUT ${team}/members/${String(userID)}`, {})
    expect((await done(`GET ${team}/members`)).text).toContain(String(userID))
    const { id: keyId, key } = (await done(`POST ${team}/api-keys`, { name: 'acceptance' })).body
    const apiKey = String(key)
    const withKey = (operation: string): Promise<ApiAnswer> => callApi(operation, { key: false, headers: { 'x-api-key': apiKey } })
    const masked = await done(`GET ${team}/api-keys`)
    expect([masked.text.includes(String(keyId)), masked.text.includes(apiKey.slice(4))]).toEqual([true, false])

    await done(`PATCH ${team}`, { limits: { concurrentSandboxes: 1 } })
    expect((await done(`GET ${team}`)).body['limits']).toEqual({ concurrentSandboxes: 1 })
    const connection = { ...server, apiKey }
    const sandbox = await Sandbox.create({ ...connection, timeoutMs: 120_000 })
    await expect(Sandbox.create(connection)).rejects.toThrow(RateLimitError)
    expect((await withKey(`GET /teams/${String(teamID)}/limits`)).body['concurrentSandboxes']).toEqual({ limit: 1, used: 1 })
    // The team of the other tests does not see it.
    expect((await callApi(`GET /sandboxes/${sandbox.sandboxId}`)).status).toBe(404)

    expect((await done('GET /admin/sandboxes/running-counts')).body[String(teamID)]).toBe(1)
    const nodes = JSON.parse((await done('GET /nodes')).text) as { id: string; status: string; sandboxCount: number }[]
    const node = nodes.find(({ status, sandboxCount }) => status === 'ready' && sandboxCount > 0)
    const shown = (await done(`GET /nodes/${String(node?.id)}`)).body
    expect(shown).toMatchObject({ id: node?.id, metrics: { cpuCount: expect.any(Number) }, version: expect.stringMatching(/^\d/) })
    expect((shown['metrics'] as { memoryTotalBytes: number }).memoryTotalBytes).toBeGreaterThan(0)

    expect((await done(`POST ${team}/sandboxes/kill`)).body).toEqual({ killedCount: 1, failedCount: 0 })
    expect((await withKey(`GET /sandboxes/${sandbox.sandboxId}`)).status).toBe(404)
    await done(`DELETE ${team}/api-keys/${String(keyId)}`)
    await vi.waitFor(async () => expect((await withKey('GET /v2/sandboxes')).status).toBe(401), { timeout: 60_000 })
  } finally {
    await admin(`POST ${team}/sandboxes/kill`)
    // The engine removes the killed sandbox a little later.
    await vi.waitFor(async () => expect((await admin(`DELETE ${team}`)).status).toBe(204), { timeout: 60_000 })
    await done(`DELETE /admin/users/${String(userID)}`)
  }
})
