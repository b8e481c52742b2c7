import { expect, test } from 'vitest'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, show, useBrowser } from './support/browser.ts'
import { expectFitsNarrow } from './support/narrow.ts'

const browser = useBrowser()
const TABS = ['timeline', 'monitoring', 'logs', 'terminal', 'files', 'processes', 'network', 'lineage']
const OPEN_TABS = 8

test.concurrent('every part of a sandbox opens in both schemes, also after its end', async () => {
  await withSandbox(async (sandbox) => {
    const { sandboxId } = sandbox
    await sandbox.commands.run('echo x')
    await using tab = await openTab(browser(), 'developer')
    const { page, problems } = tab
    for (const part of TABS) {
      await show(page, `/sandboxes/${sandboxId}/${part}`)
      await tab.loaded()
      await expectNoBarriers(page, part)
      await expectFitsNarrow(page, part)
      expect(problems, part).toEqual([])
    }
    await sandbox.kill()
    await page.getByText('It was killed with the key').last().waitFor()
    await expectNoBarriers(page, 'ended')
    for (const part of ['timeline', 'logs', 'terminal', 'files']) {
      await show(page, `/sandboxes/${sandboxId}/${part}`)
      await tab.loaded()
      expect(problems, `${part}, ended`).toEqual([])
    }
  })
})

test.concurrent(`${OPEN_TABS} tabs at once are all live, and a sandbox is killed from one of them`, async () => {
  await withSandbox(async ({ sandboxId }) => {
    await using tab = await openTab(browser(), 'developer')
    const { page, context, problems } = tab
    const others = await Promise.all(Array.from({ length: OPEN_TABS - 1 }, async () => context.newPage()))
    for (const other of others) {
      await show(other, `/sandboxes?search=${sandboxId}`)
      await other.locator(`tr[data-row="${sandboxId}"]`).waitFor()
    }
    await show(page, `/sandboxes/${sandboxId}`)
    await page.getByRole('button', { name: 'Kill…', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Kill it' }).click()
    await page.getByText('It was killed with the key').last().waitFor()
    for (const other of others) await other.locator(`tr[data-row="${sandboxId}"]`).getByText('running').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })
})
