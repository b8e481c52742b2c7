import { randomUUID } from 'node:crypto'
import { Sandbox, type SandboxListOpts } from 'e2b'
import { describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { withSandbox } from '../support/with-sandbox.ts'

async function listIds(options: SandboxListOpts): Promise<string[]> {
  const ids: string[] = []
  const pages = Sandbox.list(options)
  while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId))
  return ids
}

/** Three sandboxes, oldest first, with metadata that is unique to this run. */
async function withThree(work: (run: string, ids: string[]) => Promise<void>): Promise<void> {
  const metadata = { run: randomUUID() }
  await withSandbox(
    (first) =>
      withSandbox(
        (second) => withSandbox((third) => work(metadata.run, [first.sandboxId, second.sandboxId, third.sandboxId]), { metadata }),
        { metadata },
      ),
    { metadata },
  )
}

describe('[GET /v2/sandboxes]', () => {
  test('filters by metadata: exact match of every pair, with any characters', async () => {
    const run = randomUUID()
    const odd = { run, 'a b&c=d': 'e%20f+g/h?i#j', ünï: '日本 🚀', empty: '', Case: 'Sensitive' }
    await withSandbox(
      async ({ sandboxId }) => {
        const find = (metadata: Record<string, string>) => listIds({ query: { metadata } })
        expect(await find({ run })).toEqual([sandboxId])
        expect(await find(odd)).toEqual([sandboxId])
        for (const [key, value] of Object.entries(odd)) expect(await find({ run, [key]: value }), key).toEqual([sandboxId])
        expect(await find({ run, Case: 'sensitive' })).toEqual([])
        expect(await find({ run, case: 'Sensitive' })).toEqual([])
        expect(await find({ run, other: 'x' })).toEqual([])
        expect((await Sandbox.getInfo(sandboxId)).metadata).toEqual(odd)
      },
      { metadata: odd },
    )
  })

  test('returns pages of the requested size, newest first or oldest first', async () => {
    await withThree(async (run, ids) => {
      for (const [order, expected] of [
        ['desc', ids.toReversed()],
        ['asc', ids],
      ] as const) {
        const pages = Sandbox.list({ query: { metadata: { run } }, limit: 1, order })
        const seen: string[][] = []
        while (pages.hasNext) seen.push((await pages.nextItems()).map(({ sandboxId }) => sandboxId))
        expect(seen, order).toEqual(expected.map((id) => [id]))
      }
      const whole = Sandbox.list({ query: { metadata: { run } }, limit: 3 })
      expect((await whole.nextItems()).map(({ sandboxId }) => sandboxId)).toEqual(ids.toReversed())
      expect(whole.hasNext).toBe(false)
    })
  })

  test('continues at the right place after a sandbox of an earlier page was killed', async () => {
    await withThree(async (run, ids) => {
      const pages = Sandbox.list({ query: { metadata: { run } }, limit: 1 })
      expect((await pages.nextItems())[0]?.sandboxId).toBe(ids[2])
      await Sandbox.kill(ids[2] ?? '')
      expect((await pages.nextItems())[0]?.sandboxId).toBe(ids[1])
      expect((await pages.nextItems())[0]?.sandboxId).toBe(ids[0])
      expect(pages.hasNext).toBe(false)
    })
  })

  test('filters by state, template and start', async () => {
    await withThree(async (run, ids) => {
      const metadata = { run }
      const find = (query: NonNullable<SandboxListOpts['query']>) => listIds({ query: { metadata, ...query }, order: 'asc' })
      const { startedAt, templateId } = await Sandbox.getInfo(ids[1] ?? '')
      expect(await find({ state: ['running'] })).toEqual(ids)
      expect(await find({ state: ['paused'] })).toEqual([])
      expect(await find({ state: ['running', 'paused'] })).toEqual(ids)
      expect(await find({ template: 'base' })).toEqual(ids)
      expect(await find({ template: templateId })).toEqual(ids)
      expect(await find({ template: 'no-such-template' })).toEqual([])
      expect(await find({ startedAfter: startedAt })).toEqual(ids.slice(1))
      expect(await find({ startedAfter: new Date(Date.now() + 3_600_000) })).toEqual([])
    })
  })

  test('counts all running sandboxes, and returns a token only if another page follows', async () => {
    await withThree(async (run) => {
      const first = await callApi(`GET /v2/sandboxes?limit=2&metadata=${encodeURIComponent(`run=${run}`)}`)
      expect(first).toMatchObject({ status: 200, headers: { 'x-total-running': '3' } })
      const token = String(first.headers['x-next-token'])
      const second = await callApi(
        `GET /v2/sandboxes?limit=2&metadata=${encodeURIComponent(`run=${run}`)}&nextToken=${encodeURIComponent(token)}`,
      )
      expect(JSON.parse(second.text)).toHaveLength(1)
      expect(second.headers['x-next-token']).toBeUndefined()
      const turned = await callApi(`GET /v2/sandboxes?order=asc&nextToken=${encodeURIComponent(token)}`)
      expect(turned).toMatchObject({ status: 400, body: { code: 400, message: 'Invalid next token' } })
    })
  })

  test.each([
    ['limit=0', /^validation error/],
    ['limit=101', /^validation error/],
    ['limit=ten', /^validation error/],
    ['state=sleeping', /^validation error/],
    ['order=sideways', /^validation error/],
    ['startedAfter=yesterday', /^validation error/],
    ['nextToken=garbage', /^Invalid next token$/],
    ['metadata=novalue', /^Error parsing metadata/],
    ['template=base:v1', /^Invalid template: tags are not supported here because sandboxes are not tag-scoped$/],
  ])('refuses %s', async (query, message) => {
    expect(await callApi(`GET /v2/sandboxes?${query}`)).toMatchObject({
      status: 400,
      body: { code: 400, message: expect.stringMatching(message) },
    })
  })
})

describe('[GET /sandboxes]', () => {
  test('returns running sandboxes, newest first, filtered by metadata, without secrets', async () => {
    await withThree(async (run, ids) => {
      const answer = await callApi(`GET /sandboxes?metadata=${encodeURIComponent(`run=${run}`)}`)
      const items = JSON.parse(answer.text) as Record<string, unknown>[]
      expect(items.map((item) => item['sandboxID'])).toEqual(ids.toReversed())
      const secrets = ['envdAccessToken', 'trafficAccessToken', 'network', 'lifecycle']
      expect(items.flatMap((item) => Object.keys(item)).filter((key) => secrets.includes(key))).toEqual([])
      expect(await callApi('GET /sandboxes?metadata=novalue')).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(/^Error parsing metadata/) },
      })
    })
  })
})
