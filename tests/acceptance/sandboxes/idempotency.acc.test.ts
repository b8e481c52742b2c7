import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { callApi, type ApiAnswer } from '../support/api.ts'

/** Creates sandboxes with a key, and kills them after the test. */
async function withKey(work: (create: (body?: object) => Promise<ApiAnswer>, run: string) => Promise<void>): Promise<void> {
  const key = randomUUID()
  const run = randomUUID()
  try {
    await work(
      (body = {}) =>
        callApi('POST /v2/sandboxes', { body: { templateID: 'base', metadata: { run }, ...body }, headers: { 'idempotency-key': key } }),
      run,
    )
  } finally {
    for (const id of await created(run)) await callApi(`DELETE /sandboxes/${id}`)
  }
}

async function created(run: string): Promise<string[]> {
  const { text } = await callApi(`GET /v2/sandboxes?metadata=${encodeURIComponent(`run=${run}`)}`)
  return (JSON.parse(text) as Record<string, unknown>[]).map((item) => String(item['sandboxID']))
}

describe('[POST /v2/sandboxes] with an Idempotency-Key', () => {
  test('a repeat gets the answer of the first request, and one sandbox is created', async () => {
    await withKey(async (create, run) => {
      const first = await create()
      expect(first.status).toBe(201)
      const repeat = await create()
      expect(repeat).toMatchObject({ status: 201, body: first.body })
      expect(await created(run)).toEqual([first.body['sandboxID']])
    })
  })

  test('concurrent repeats create one sandbox; a repeat that is too early gets an error that asks for a retry', async () => {
    await withKey(async (create, run) => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => create()))
      const made = answers.filter(({ status }) => status === 201)
      const early = answers.filter(({ status }) => status !== 201)
      expect(made.length).toBeGreaterThan(0)
      expect(new Set(made.map(({ body }) => body['sandboxID'])).size).toBe(1)
      for (const answer of early) {
        expect(answer).toMatchObject({
          status: 409,
          headers: { 'should-retry': 'true' },
          body: { code: 409, error_code: 'idempotency_in_progress' },
        })
      }
      expect(await created(run)).toHaveLength(1)
    })
  })

  test('the key of another request is refused', async () => {
    await withKey(async (create, run) => {
      const first = await create()
      const other = await create({ timeout: 77 })
      expect(other).toMatchObject({
        status: 422,
        body: { code: 422, error_code: 'idempotency_request_mismatch' },
      })
      expect(await created(run)).toEqual([first.body['sandboxID']])
    })
  })

  test.each(['', 'UPPER', 'with space', 'a'.repeat(256), 'under_score'])('the key %j is refused', async (key) => {
    const answer = await callApi('POST /v2/sandboxes', { body: { templateID: 'base' }, headers: { 'idempotency-key': key } })
    expect(answer).toMatchObject({ status: 400, body: { code: 400 } })
  })

  test('a key can be used again after an invalid request', async () => {
    await withKey(async (create) => {
      expect(await create({ templateID: 'no-such-template' })).toMatchObject({ status: 404 })
      expect(await create({ templateID: 'no-such-template' })).toMatchObject({ status: 404 })
    })
  })
})
