import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIVE_CLOSE, MAX_SUBSCRIPTIONS } from '@sandyard/dashboard-contract/limits'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'

/** Without a notification an end is noticed once a minute. The promise is a second, which a busy machine may miss. */
const LEAST_CHECK_MS = 15_000

describe('the live socket', () => {
  let world: World
  let server: Server
  let browser: Browser

  beforeAll(async () => {
    world = await createWorld()
    server = await world.startServer({ loops: true })
    browser = await new Browser(server).logIn({ key: world.credentials.apiKey })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const open = () => LivePage.open(server, browser)

  async function makeKey(): Promise<{ id: string; key: string }> {
    const headers = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId }
    const { body } = await server.call('POST', '/api-keys', { apiKey: null, headers, body: { name: 'of a page' } })
    return body as { id: string; key: string }
  }

  async function createSandbox(): Promise<string> {
    const { status, body } = await server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    expect(status).toBe(201)
    return body.sandboxID as string
  }

  it('begins with the version, and answers pings of a page that is silent', async () => {
    await using page = await open()
    await expect(page.frame('version')).resolves.toMatchObject({ server: expect.any(String), sessionEndsAt: expect.any(String) })
    expect(page.frames[0]?.t).toBe('version')
  })

  it('refuses another origin with 403, and closes a page without a session with 4401', async () => {
    await expect(LivePage.open(server, browser, { origin: 'http://3000-abc.dash.localhost' })).rejects.toThrow('answered 403')
    const stranger = await LivePage.open(server, browser, { cookie: '' })
    await expect(stranger.closed()).resolves.toMatchObject({ code: LIVE_CLOSE.sessionEnded })
    await using page = await open()
    await page.frame('version')
  })

  it('sends the lines of a log and then the new ones, once each', async () => {
    const sandboxId = await createSandbox()
    await using page = await open()
    const id = page.subscribe(`logs:${sandboxId}`)
    const { data } = await page.frame('snapshot', (frame) => frame.id === id)
    const { lines } = data as { lines: { id: string; text: string }[] }
    expect(lines.length).toBeGreaterThan(0)
    await server.call('DELETE', `/sandboxes/${sandboxId}`)
    const patched = (): { id: string; text: string }[] =>
      page.frames.flatMap((frame) =>
        frame.t === 'patch' && frame.id === id ? (frame.data as { lines: { id: string; text: string }[] }).lines : [],
      )
    await waitFor('the line of the end', () => patched().some(({ text }) => /kill|end/i.test(text)))
    const ids = [...lines, ...patched()].map((line) => line.id)
    expect(new Set(ids).size).toBe(ids.length)
    const seqs = page.frames.flatMap((frame) => (frame.t === 'patch' && frame.id === id ? [frame.seq] : []))
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  })

  it('answers topics of other teams, malformed ones and too many with errors, and goes on', async () => {
    await using page = await open()
    const unknown = page.subscribe('logs:iabsent')
    await expect(page.frame('error', (frame) => frame.id === unknown)).resolves.toMatchObject({ code: 404 })
    const malformed = page.subscribe('watch:i1:relative')
    await expect(page.frame('error', (frame) => frame.id === malformed)).resolves.toMatchObject({ code: 400 })
    page.sendText('{"t":"sub"}')
    await expect(page.frame('error', (frame) => frame.id === undefined)).resolves.toMatchObject({ code: 400 })
    const ids = Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, (_, index) => page.subscribe(`metrics:i${index}`))
    await expect(page.frame('error', (frame) => frame.id === ids.at(-1))).resolves.toMatchObject({ code: 429 })
    await expect(page.frame('snapshot', (frame) => frame.id === ids[0])).resolves.toMatchObject({ data: {} })
  })

  it('closes at the logout, and when the drain begins', async () => {
    const other = await new Browser(server).logIn({ key: world.credentials.apiKey })
    const page = await LivePage.open(server, other)
    await page.frame('version')
    await other.call('POST', '/api/logout')
    await expect(page.closed()).resolves.toMatchObject({ code: LIVE_CLOSE.sessionEnded })
    const second = await world.startServer()
    const last = await LivePage.open(second, await new Browser(second).logIn({ key: world.credentials.apiKey }))
    await expect(second.ctx.drain.run(20_000)).resolves.toBe(true)
    await expect(last.closed()).resolves.toMatchObject({ code: LIVE_CLOSE.goingAway })
  })

  it.each(['a logout', 'the deletion of the key', 'a login in the same browser', 'a deletion by hand'])(
    'closes at once after %s on another server',
    async (how) => {
      const { key, id } = await makeKey()
      const other = await world.startServer({ loops: true })
      const elsewhere = await new Browser(other).logIn({ key })
      const page = await LivePage.open(server, elsewhere)
      await page.frame('version')
      const session = world.database.db.selectFrom('dashboard_session').select('session_id').where('api_key_id', '=', id)
      const { session_id } = await session.executeTakeFirstOrThrow()
      const endedAt = performance.now()
      if (how === 'a logout') await elsewhere.call('POST', '/api/logout')
      if (how === 'the deletion of the key') await elsewhere.call('DELETE', `/api/wire/api-keys/${id}`)
      if (how === 'a login in the same browser') await elsewhere.logIn({ key: world.credentials.apiKey })
      if (how === 'a deletion by hand')
        await world.database.db.deleteFrom('dashboard_session').where('session_id', '=', session_id).execute()
      await expect(page.closed()).resolves.toMatchObject({ code: LIVE_CLOSE.sessionEnded })
      expect(performance.now() - endedAt).toBeLessThan(LEAST_CHECK_MS)
    },
  )
})
