import { AuthenticationError, Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { callApi, unknownSandboxId } from '../support/api.ts'
import { fromEnvironment } from '../support/server.ts'

const invalidKey = 'Invalid API key, please visit https://e2b.dev/docs/api-key for more information.'
const invalidToken = 'Invalid Access token, try to login again by running `e2b auth login`.'
const unknownHex = 'f'.repeat(40)

describe('an API key', () => {
  test.each([
    [{}, 'authorization header is missing'],
    [{ 'x-api-key': '' }, 'authorization header is missing'],
    [{ 'x-api-key': 'sk_nonsense' }, 'authorization header is malformed'],
    [{ 'x-api-key': 'e2b_nothex' }, `${invalidKey}\nInvalid API key format`],
    [{ 'x-api-key': 'e2b_00' }, `${invalidKey}\nInvalid API key format`],
    [{ 'x-api-key': `e2b_${unknownHex}` }, `${invalidKey}\nCannot get the team for the given API key`],
  ])('[GET /v2/sandboxes] is required: %j', async (headers, message) => {
    const answer = await callApi('GET /v2/sandboxes', { key: false, headers })
    expect(answer).toMatchObject({ status: 401, headers: { 'content-type': 'application/json; charset=utf-8' } })
    expect(answer.body).toEqual({ code: 401, message })
  })

  test('is checked by every route of sandboxes before anything else', async () => {
    const operations = [
      'POST /sandboxes',
      'POST /v2/sandboxes',
      'GET /sandboxes',
      'GET /v2/sandboxes?limit=nonsense',
      `GET /sandboxes/${unknownSandboxId}`,
      'GET /sandboxes/NOT-AN-ID',
      `DELETE /sandboxes/${unknownSandboxId}`,
      `POST /sandboxes/${unknownSandboxId}/timeout`,
      `POST /sandboxes/${unknownSandboxId}/refreshes`,
      `POST /sandboxes/${unknownSandboxId}/connect`,
      `POST /v2/sandboxes/${unknownSandboxId}/connect`,
      'GET /volumes',
    ]
    for (const operation of operations) {
      const call = operation.startsWith('POST') ? { key: false, text: '{"templateID": 7' } : { key: false }
      expect(await callApi(operation, call), operation).toMatchObject({ status: 401, body: { code: 401 } })
    }
  })

  test('that is wrong makes the SDK throw AuthenticationError', async () => {
    await expect(Sandbox.create({ apiKey: `e2b_${unknownHex}` })).rejects.toThrow(AuthenticationError)
  })
})

describe('an access token', () => {
  test.each([
    [undefined, 'authorization header is missing'],
    ['Basic dTpw', 'authorization header is malformed'],
    ['Bearer nonsense', 'authorization header is malformed'],
    ['Bearer sk_e2b_nothex', `${invalidToken}\nInvalid access token format`],
    [`Bearer sk_e2b_${unknownHex}`, `${invalidToken}\nCannot get the user for the given access token`],
  ])('[POST /templates/{templateID}] is required: %s', async (authorization, message) => {
    const call = { key: false, body: { dockerfile: 'FROM base' }, headers: authorization === undefined ? {} : { authorization } }
    const answer = await callApi('POST /templates/aaaaaaaaaaaaaaaaaaaa', call)
    expect(answer).toMatchObject({ status: 401, body: { code: 401, message } })
  })

  test('[POST /templates/{templateID}] is accepted by its routes, and an API key is not', async () => {
    const authorization = `Bearer ${fromEnvironment('E2B_ACCESS_TOKEN')}`
    const body = { dockerfile: 'FROM base' }
    const withToken = await callApi('POST /templates/aaaaaaaaaaaaaaaaaaaa', { key: false, body, headers: { authorization } })
    expect(withToken.status).not.toBe(401)
    expect(await callApi('POST /templates/aaaaaaaaaaaaaaaaaaaa', { body })).toMatchObject({ status: 401 })
  })
})
