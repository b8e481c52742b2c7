import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { findBarriers } from './support/axe.ts'
import { expectLoaded, openTab, PATIENCE_MS, show, useBrowser } from './support/browser.ts'
import { api } from './support/server.ts'

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
