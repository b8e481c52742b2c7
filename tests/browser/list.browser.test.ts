import { expect, test } from 'vitest'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, show, until, useBrowser } from './support/browser.ts'
import { api } from './support/server.ts'

const browser = useBrowser()

const stateOf = async (sandboxId: string): Promise<string> => (await api<{ state: string }>('GET', `/sandboxes/${sandboxId}`)).state

test.concurrent('filters, columns and views of the list survive a reload', async () => {
  await withSandbox(
    async ({ sandboxId }) => {
      await using tab = await openTab(browser(), 'developer')
      const { page, problems } = tab
      const row = page.locator(`tr[data-row="${sandboxId}"]`)
      await show(page, '/sandboxes')
      await row.waitFor()
      await expectNoBarriers(page, 'rows')
      await page.getByRole('searchbox', { name: 'Search sandboxes' }).fill('browser=filters')
      await page.waitForURL(/browser/)
      await page.getByRole('button', { name: 'paused', exact: true }).click()
      await page.waitForURL(/state=/)
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('checkbox', { name: 'Metadata' }).uncheck()
      await page.keyboard.press('Escape')
      await page.getByRole('columnheader', { name: 'Metadata' }).waitFor({ state: 'detached' })
      const { search } = new URL(page.url())

      await page.getByRole('button', { name: 'Views' }).click()
      await page.getByRole('button', { name: /Save this view/ }).click()
      await page.getByLabel('Name of the view').fill('mine')
      await page.getByRole('button', { name: 'Save', exact: true }).click()

      await page.reload()
      await row.waitFor()
      expect(await page.getByRole('searchbox', { name: 'Search sandboxes' }).inputValue()).toBe('browser=filters')
      expect(await page.getByRole('button', { name: 'paused', exact: true }).getAttribute('aria-pressed')).toBe('false')
      expect(await page.locator('tr[data-row]').count()).toBe(1)
      expect(await page.getByRole('columnheader', { name: 'Metadata' }).count()).toBe(0)

      await show(page, '/sandboxes')
      await page.getByRole('button', { name: 'Views' }).click()
      await page.getByRole('button', { name: 'mine', exact: true }).click()
      await page.waitForURL((url) => url.search === search)
      expect(problems).toEqual([])
    },
    { metadata: { browser: 'filters' } },
  )
})

test.concurrent('an action on many says of each how it went, and all that match can be killed', async () => {
  const options = { metadata: { browser: 'bulk' } }
  await withSandbox(
    async (first) =>
      withSandbox(async (second) => {
        await first.pause()
        await using tab = await openTab(browser(), 'developer')
        const { page, problems } = tab
        await show(page, '/sandboxes?search=browser%3Dbulk')
        await page.locator(`tr[data-row="${first.sandboxId}"]`).filter({ hasText: 'paused' }).waitFor()
        await page.getByRole('checkbox', { name: `Select ${first.sandboxId}` }).click()
        await page.getByRole('checkbox', { name: `Select ${second.sandboxId}` }).click({ modifiers: ['Shift'] })
        const bar = page.getByRole('group', { name: '2 selected' })
        await bar.getByRole('button', { name: 'Pause' }).click()
        const job = page.getByRole('region', { name: 'Pausing 2 sandboxes' })
        await job.getByRole('status').filter({ hasText: '2 of 2 done' }).waitFor()
        await job.getByRole('listitem').filter({ hasText: first.sandboxId }).filter({ hasText: 'skipped' }).waitFor()
        expect(await stateOf(second.sandboxId)).toBe('paused')

        await page.getByRole('checkbox', { name: `Select ${first.sandboxId}` }).click()
        await page.getByRole('button', { name: 'All 2 that match' }).click()
        await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Kill' }).first().click()
        await page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true }).click()
        await page.getByRole('region', { name: 'Killing 2 sandboxes' }).getByRole('status').filter({ hasText: '2 of 2 done' }).waitFor()
        for (const { sandboxId } of [first, second]) await until(async () => (await stateOf(sandboxId).catch(() => 'gone')) === 'gone')
        expect(problems).toEqual([])
      }, options),
    options,
  )
})

test.concurrent('looking changes nothing: a paused sandbox stays paused on every screen, and a running one ends when it would have', async () => {
  await withSandbox(async (paused) =>
    withSandbox(async (running) => {
      await paused.pause()
      const before = await api<{ endAt: string }>('GET', `/sandboxes/${running.sandboxId}`)
      await using tab = await openTab(browser(), 'developer')
      const { page, problems } = tab
      for (const { sandboxId } of [paused, running]) {
        for (const part of ['timeline', 'monitoring', 'logs', 'terminal', 'files', 'processes', 'network', 'lineage']) {
          await show(page, `/sandboxes/${sandboxId}/${part}`)
          await tab.loaded()
          if (sandboxId === paused.sandboxId && ['terminal', 'files', 'processes'].includes(part))
            await page.getByText('Looking does not wake it').waitFor()
        }
      }
      for (const path of ['/', '/sandboxes', `/sandboxes?search=${paused.sandboxId}`]) {
        await show(page, path)
        await tab.loaded()
      }
      expect(await stateOf(paused.sandboxId)).toBe('paused')
      expect(await api('GET', `/sandboxes/${running.sandboxId}`)).toMatchObject({ state: 'running', endAt: before.endAt })
      expect(problems).toEqual([])
    }),
  )
})
