import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startServer } from '../acceptance/support/sandbox-server.ts'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { openTab, useBrowser } from './support/browser.ts'
import { server } from './support/server.ts'

const browser = useBrowser()
const PORT = 3000

/** Ports of `localhost` are one site, and cookies ignore ports: the browser sends the dashboard's cookie to the sandbox and from its page. */
const dashboard = new URL(server.apiUrl)
dashboard.hostname = 'localhost'
const origin = dashboard.origin

interface Seen {
  readonly statuses: number[]
  readonly cookies: string[]
}

/** What went over the network, also for requests whose answers the page may not see. */
async function watchRequests(page: Page): Promise<Seen> {
  const seen: Seen = { statuses: [], cookies: [] }
  const session = await page.context().newCDPSession(page)
  session.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
    seen.cookies.push(headers['Cookie'] ?? '')
  })
  session.on('Network.responseReceivedExtraInfo', ({ statusCode }) => void seen.statuses.push(statusCode))
  await session.send('Network.enable')
  return seen
}

test('a page that a sandbox serves gets no cookie of the dashboard and cannot act as its user', async () => {
  await withSandbox(async (sandbox) => {
    await startServer(sandbox, PORT)
    await using tab = await openTab(browser(), 'nobody')
    const { context, page } = tab
    const login = await context.request.post(`${origin}/dashboard/api/login`, { data: { key: server.apiKey }, headers: { origin } })
    expect(login.status()).toBe(200)

    const own = await context.newPage()
    await own.goto(`${origin}/dashboard/keys`)
    await own.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    await page.setExtraHTTPHeaders({ 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': String(PORT) })
    const shown = await page.goto(`http://localhost:${new URL(server.sandboxUrl).port}/`)
    await page.setExtraHTTPHeaders({})
    const seen = (await shown?.json()) as { headers: [string, string][] }
    expect(seen.headers.filter(([name, value]) => name === 'cookie' && value.includes('sandyard'))).toEqual([])

    const requests = await watchRequests(page)
    for (const path of ['/logout', '/wire/api-keys', `/wire/sandboxes/${sandbox.sandboxId}/timeout`]) {
      await page.evaluate(attack(`${origin}/dashboard/api${path}`))
    }
    expect(await page.evaluate(`(${canRead.toString()})(${JSON.stringify(`${origin}/dashboard/api/me`)})`)).toBe(false)
    expect(await page.evaluate(openSocket(`${origin.replace('http', 'ws')}/dashboard/api/live`))).toBe('refused')
    await expect.poll(() => requests.statuses.filter((status) => status === 403).length).toBeGreaterThanOrEqual(3)
    // Cookies were sent: only the check of the origin kept the page away.
    expect(requests.cookies.some((cookie) => cookie.includes('sandyard='))).toBe(true)

    // The allow control: the same requests from the dashboard's own page.
    expect(await own.evaluate(openSocket(`${origin.replace('http', 'ws')}/dashboard/api/live`))).toBe('open')
    expect(await own.evaluate(`fetch('/dashboard/api/me').then(({ status }) => status)`)).toBe(200)
    expect(await own.evaluate(`fetch('/dashboard/api/logout', { method: 'POST' }).then(({ status }) => status)`)).toBe(204)
  })
})

/** A request that needs no permission of the other server: it is sent with cookies, only its answer cannot be read. */
function attack(url: string): string {
  return `fetch(${JSON.stringify(url)}, { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{"name":"x","timeout":1}' }).catch(() => undefined)`
}

function openSocket(url: string): string {
  return `new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(url)})
    socket.onopen = () => { socket.close(); resolve('open') }
    socket.onerror = () => resolve('refused')
  })`
}

const canRead = (url: string): Promise<boolean> =>
  fetch(url, { credentials: 'include' }).then(
    () => true,
    () => false,
  )
