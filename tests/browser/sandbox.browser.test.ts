import { tmpdir } from 'node:os'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sandyard } from '../acceptance/support/sandyard.ts'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { findBarriers } from './support/axe.ts'
import { expectLoaded, openTab, PATIENCE_MS, show, useBrowser } from './support/browser.ts'
import { api, server } from './support/server.ts'

const browser = useBrowser()
const TABS = ['timeline', 'monitoring', 'logs', 'terminal', 'files', 'processes', 'network', 'lineage']
const OPEN_TABS = 8

async function typeLine(page: Page, line: string): Promise<void> {
  await page.locator('.xterm-helper-textarea').first().focus()
  await page.keyboard.type(`${line}\n`)
}

async function seesInTerminal(page: Page, text: string): Promise<void> {
  await page.locator('.xterm-rows').filter({ hasText: text }).first().waitFor({ timeout: PATIENCE_MS })
}

test('a newcomer goes from the printed link to a shell in a new sandbox', async () => {
  await using tab = await openTab(browser(), 'nobody')
  const { page, problems } = tab
  const printed = await sandyard(tmpdir(), ['dashboard'], { env: { SANDYARD_DATA_DIR: server.dataDirectory } })
  expect(printed).toMatchObject({ code: 0 })
  await page.goto(printed.stdout.trim())
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await show(page, '/sandboxes/new')
  await page.getByRole('checkbox', { name: 'Open a terminal then' }).check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/sandboxes\/[a-z0-9]{10,}\/terminal/)
  const sandboxId = /sandboxes\/([a-z0-9]+)/.exec(page.url())?.[1] ?? ''
  try {
    await page.getByRole('button', { name: 'Open a shell' }).or(page.locator('.xterm-rows')).first().waitFor()
    if (await page.getByRole('button', { name: 'Open a shell' }).isVisible())
      await page.getByRole('button', { name: 'Open a shell' }).click()
    await page.locator('.xterm-rows').waitFor()
    await typeLine(page, 'echo new-$((6*9))')
    await seesInTerminal(page, 'new-54')
    expect(problems).toEqual([])
  } finally {
    await api('DELETE', `/sandboxes/${sandboxId}`)
  }
})

test('a shell survives a reload and a lost network, and a sandbox is killed from its page', async () => {
  await withSandbox(async (sandbox) => {
    await using tab = await openTab(browser(), 'developer')
    const { page, context, problems } = tab
    await show(page, `/sandboxes/${sandbox.sandboxId}/terminal`)
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await page.locator('.xterm-rows').waitFor()
    await typeLine(page, 'echo shell-$((6*7))')
    await seesInTerminal(page, 'shell-42')
    expect(await findBarriers(page)).toEqual([])

    await show(page, new URL(page.url()).pathname.replace('/dashboard', '') + new URL(page.url()).search)
    await seesInTerminal(page, 'shell-42')

    await context.setOffline(true)
    await context.setOffline(false)
    await typeLine(page, 'echo again-$((6*8))')
    await seesInTerminal(page, 'again-48')

    await page.getByRole('button', { name: 'Kill…', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Kill it' }).click()
    await expect.poll(() => isGone(sandbox.sandboxId), { timeout: PATIENCE_MS }).toBe(true)
    expect(problems).toEqual([])
  })
})

test(`every part of a sandbox opens in both schemes, also in ${OPEN_TABS} tabs at once`, async () => {
  await withSandbox(async ({ sandboxId }) => {
    await using tab = await openTab(browser(), 'developer')
    const { page, context, problems } = tab
    for (const part of TABS) {
      await show(page, `/sandboxes/${sandboxId}/${part}`)
      await expectLoaded(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await findBarriers(page), part).toEqual([])
      }
    }
    const pages = [page, ...(await Promise.all(Array.from({ length: OPEN_TABS - 1 }, async () => context.newPage())))]
    for (const each of pages) {
      await show(each, '/sandboxes')
      await each
        .getByRole('link', { name: sandboxId.slice(0, 6) })
        .or(each.getByText(sandboxId.slice(0, 6)))
        .first()
        .waitFor()
    }
    expect(problems).toEqual([])
  })
})

async function isGone(sandboxId: string): Promise<boolean> {
  return api('GET', `/sandboxes/${sandboxId}`).then(
    () => false,
    () => true,
  )
}
