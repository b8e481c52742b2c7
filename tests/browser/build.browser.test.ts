import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { e2b251 } from '../acceptance/support/sdks.ts'
import { removeTemplates, startBuild, templateName } from '../acceptance/support/templates.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, PATIENCE_MS, show, useBrowser } from './support/browser.ts'
import { expectFitsNarrow } from './support/narrow.ts'

const browser = useBrowser()
const { Template } = e2b251
const LINES = 100_000
const NEEDLE = 77_777

afterAll(removeTemplates)

interface Frame {
  readonly t: string
  data?: { lines?: object[] }
}

test('a failing build is followed to its reason, and its log stays usable with 100,000 lines', async () => {
  const template = Template().fromBaseImage().runCmd('echo first step').runCmd('echo no-such-thing; exit 7').runCmd('echo never')
  const { buildId, templateId } = await startBuild(template, templateName('dashboard'))
  await using tab = await openTab(browser(), 'developer')
  const { page, context, problems } = tab
  await show(page, `/builds/${buildId}`)
  await page.getByRole('heading', { level: 2, name: 'Why it failed' }).waitFor({ timeout: 2 * PATIENCE_MS })
  await page.getByRole('region', { name: 'The last lines of the step' }).filter({ hasText: 'no-such-thing' }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'RUN echo never' }).getByText('not run').waitFor()
  for (const path of [undefined, '/builds', `/templates/${templateId}`]) {
    if (path !== undefined) await show(page, path)
    await tab.loaded()
    await expectNoBarriers(page, path)
    await expectFitsNarrow(page, path ?? 'the build')
  }

  const long = await context.newPage()
  await long.routeWebSocket(/\/dashboard\/api\/live/, (socket) => {
    const real = socket.connectToServer()
    real.onMessage((message) => socket.send(typeof message === 'string' ? withManyLines(message) : message))
  })
  await show(long, `/builds/${buildId}`)
  const log = long.getByRole('log', { name: 'Log of the build' })
  await log.locator('.log-row').first().waitFor()
  // However it is scrolled, the page has the rows that are seen and a few more.
  for (const part of [0.25, 0.5, 1]) {
    await log.evaluate((element, share) => element.scrollTo(0, element.scrollHeight * share), part)
    const first = Math.floor(LINES * part)
    await expect.poll(async () => Math.abs((await firstLine(log)) - first)).toBeLessThan(300)
    expect(await log.locator('.log-row').count()).toBeLessThan(300)
  }
  await long.getByRole('searchbox').first().fill(`line ${NEEDLE} of`)
  await log.getByText(`line ${NEEDLE} of`).waitFor()
  expect(problems).toEqual([])
})

async function firstLine(log: Locator): Promise<number> {
  return Number(/line (\d+) of/.exec((await log.locator('.log-row').first().textContent()) ?? '')?.[1])
}

function withManyLines(message: string): string {
  const frame = JSON.parse(message) as Frame
  if (frame.t !== 'snapshot' || frame.data?.lines === undefined) return message
  const at = new Date().toISOString()
  const line = (_: unknown, index: number): object => ({
    number: index + 1,
    at,
    level: 'info',
    step: '1',
    text: `line ${index + 1} of many`,
  })
  frame.data.lines = Array.from({ length: LINES }, line)
  return JSON.stringify(frame)
}
