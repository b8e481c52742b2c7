import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, vi } from 'vitest'
import { collectProblems } from './problems.ts'
import { PendingRequests } from './pending-requests.ts'
import { dashboardUrl, fromEnvironment, server } from './server.ts'

const CONNECT_TIMEOUT_MS = 30_000
/** How long a slow machine may need for anything that a page does. */
export const PATIENCE_MS = 60_000

/** For tests that run side by side: `expect.poll` does not know to which of them it belongs. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(isSo, { timeout: PATIENCE_MS, interval: 50 })
}

/** Terminals are drawn with the frames of their page: Chromium may stop to make any. */
function isDrawn(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    'new Promise((resolve) => { requestAnimationFrame(() => resolve(true)); setTimeout(() => resolve(false), 5000) })',
  )
}

/** Waits for what a page must show. The error of a failure says what it shows instead. */
export async function seen(locator: Locator): Promise<void> {
  try {
    await locator.first().waitFor({ timeout: PATIENCE_MS })
  } catch (err) {
    const page = locator.page()
    const shown = await page.locator('body').innerText()
    throw new Error(`${(err as Error).message}\nThe page ${(await isDrawn(page)) ? 'is drawn' : 'is not drawn'}, and shows:\n${shown}`, {
      cause: err,
    })
  }
}

export interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Reports of the content security policy, errors in the console and uncaught errors of all pages of the context, without those of lost networks. */
  readonly problems: readonly string[]
  /** What the screen of `page` reads is there, or the reason why it is not. */
  loaded(): Promise<void>
}

/** The browser of the run (browser-for-run.ts). */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await chromium.connect(fromEnvironment('SANDYARD_TEST_BROWSER_SOCKET'), { timeout: CONNECT_TIMEOUT_MS })
  })
  // Only the contexts of this file end.
  afterAll(async () => browser?.close())
  return () => {
    if (browser === undefined) throw new Error('the browser has not started')
    return browser
  }
}

export type As = 'nobody' | 'developer' | 'operator'

/** A tab with cookies of its own, logged in without the page. */
export async function openTab(browser: Browser, as: As, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const problems = await collectProblems(context)
  if (as !== 'nobody') await logIn(context, as)
  const page = await context.newPage()
  const pending = new PendingRequests(page)
  const loaded = async (): Promise<void> => {
    await until(() => pending.isQuiet())
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
  }
  return { page, context, problems, loaded, [Symbol.asyncDispose]: async () => context.close() }
}

async function logIn(context: BrowserContext, as: Exclude<As, 'nobody'>): Promise<void> {
  const response = await context.request.post(`${dashboardUrl}/api/login`, {
    data: as === 'operator' ? { adminToken: server.adminToken } : { key: server.apiKey },
    headers: { origin: server.apiUrl },
    timeout: PATIENCE_MS,
  })
  if (!response.ok()) throw new Error(`the login answered with ${response.status()}: ${await response.text()}`)
}

const LOST = /net::ERR_(NETWORK_CHANGED|INTERNET_DISCONNECTED|NETWORK_IO_SUSPENDED|ABORTED)/
/** By the browser itself, which loads a page again that it has lost. */
const LOADED_AGAIN = /interrupted by another navigation/
const LOOK_MS = 15_000
const LOADS = 4

/** Runs in the page. Of a style sheet that was lost on its way the browser has no rules, or refuses to show them. */
const HAS_STYLES = `[...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => {
  try {
    return sheet.cssRules.length > 0
  } catch {
    return false
  }
})`

/**
 * Opens an address below `/dashboard` and waits for its heading. A browser on the engine's host cancels loads when a container's network interface
 * comes or goes: a page that lost its first files is loaded again.
 */
export async function show(page: Page, path: string, options: { readonly heading?: string | RegExp } = {}): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, ...(options.heading !== undefined && { name: options.heading }) }).first()
  for (let load = 1; ; load += 1) {
    try {
      await page.goto(`${dashboardUrl}${path}`, { timeout: PATIENCE_MS, waitUntil: 'domcontentloaded' })
    } catch (err) {
      const { message } = err as Error
      if (LOST.test(message) && load < LOADS) continue
      if (!LOADED_AGAIN.test(message)) throw err
    }
    const isLast = load === LOADS
    try {
      await heading.waitFor({ timeout: isLast ? PATIENCE_MS : LOOK_MS })
      if (isLast || (await page.evaluate<boolean>(HAS_STYLES))) return
    } catch (err) {
      if (isLast) throw err
    }
  }
}
