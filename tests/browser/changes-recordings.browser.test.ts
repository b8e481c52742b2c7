import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, PATIENCE_MS, show, useBrowser } from './support/browser.ts'

const browser = useBrowser()

async function typeLine(page: Page, line: string): Promise<void> {
  await page.locator('.xterm-helper-textarea').first().focus()
  await page.keyboard.type(`${line}\n`)
}

async function seesIn(page: Page, frame: string, text: string): Promise<void> {
  await page.locator(`${frame} .xterm-rows`).filter({ hasText: text }).first().waitFor({ timeout: PATIENCE_MS })
}

test('the files that have changed since create are listed and compared, also those that are gone, and while the sandbox is paused', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.files.write('/home/user/new.txt', 'a new file\n')
    await sandbox.commands.run('echo more >> /etc/debian_version && rm /etc/issue', { user: 'root' })
    await using tab = await openTab(browser(), 'developer')
    const { page, problems } = tab
    await show(page, `/sandboxes/${sandbox.sandboxId}/files?view=changes`)
    const list = page.getByRole('list', { name: 'Changed since create' })
    await list.waitFor()
    expect((await list.getByRole('button').allTextContents()).map((text) => text.replace(/^[+±−]/u, '')).toSorted()).toEqual([
      'added/home/user/new.txt',
      'changed/etc/debian_version',
      'deleted/etc/issue',
    ])
    await list.getByRole('button', { name: '/etc/debian_version' }).click()
    await page.locator('.cm-insertedLine, .cm-changedText').filter({ hasText: 'more' }).first().waitFor()
    await list.getByRole('button', { name: '/etc/issue' }).click()
    await page.getByText('The file was deleted. This is how it was:').waitFor()
    await page.locator('pre').filter({ hasText: 'Debian' }).waitFor()
    await expectNoBarriers(page)

    await sandbox.pause()
    await show(page, `/sandboxes/${sandbox.sandboxId}/files`)
    await page.getByRole('listitem').filter({ hasText: '/etc/issue' }).waitFor()
    expect(problems).toEqual([])
  })
})

test('two sandboxes of a lineage are compared by what has changed in each', async () => {
  await withSandbox(async (sandbox) => {
    const [fork] = await sandbox.fork({ count: 1 })
    if (fork === undefined || fork instanceof Error) throw fork ?? new Error('the sandbox has no fork')
    try {
      await sandbox.files.write('/home/user/origin.txt', 'a')
      await fork.files.write('/home/user/fork.txt', 'b')
      await using tab = await openTab(browser(), 'developer')
      const { page, problems } = tab
      await show(page, `/sandboxes/${sandbox.sandboxId}/lineage`)
      await page.getByRole('button', { name: `Compare with ${fork.sandboxId}` }).click()
      const rows = page.getByRole('dialog').getByRole('row')
      await rows.filter({ hasText: '/home/user/fork.txt' }).waitFor()
      const cells = async (path: string): Promise<string[]> => rows.filter({ hasText: path }).getByRole('cell').allTextContents()
      expect(await cells('/home/user/origin.txt')).toEqual(['/home/user/origin.txt', 'added', '–'])
      expect(await cells('/home/user/fork.txt')).toEqual(['/home/user/fork.txt', '–', 'added'])
      await expectNoBarriers(page)
      expect(problems).toEqual([])
    } finally {
      await fork.kill()
    }
  })
})

test('a recorded shell is replayed in the timeline, downloaded and removed', async () => {
  await withSandbox(async (sandbox) => {
    await using tab = await openTab(browser(), 'developer')
    const { page, problems } = tab
    await show(page, `/sandboxes/${sandbox.sandboxId}/terminal`)
    await page.getByRole('button', { name: 'Open a shell', exact: true }).click()
    await page.locator('.xterm-rows').waitFor()
    await seesIn(page, '.shell-frame', 'user@')
    await page.getByRole('checkbox', { name: 'Record', exact: true }).check()
    await page.getByText('● recording').waitFor()
    await typeLine(page, 'echo replayed-$((6*7))')
    await seesIn(page, '.shell-frame', 'replayed-42')
    await page.getByRole('checkbox', { name: '● recording' }).uncheck()
    await page.getByRole('checkbox', { name: 'Record', exact: true }).waitFor()

    await show(page, `/sandboxes/${sandbox.sandboxId}?lanes=terminal`)
    await page.getByRole('button', { name: 'Replay' }).click()
    await seesIn(page, '.player-frame', 'replayed-42')
    await tab.loaded()
    await expectNoBarriers(page)
    await page.keyboard.press('Escape')

    const saving = page.waitForEvent('download')
    await page.getByRole('link', { name: 'asciicast' }).click()
    const saved = await saving
    expect(saved.suggestedFilename()).toMatch(/\.cast$/)

    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Remove this recording' }).click()
    // The player is a dialog too, with a button of the same name.
    await page.getByRole('dialog', { name: 'Remove this recording' }).getByRole('button', { name: 'Remove this recording' }).click()
    await page.getByText('The recording was removed.').waitFor()
    await page.getByRole('button', { name: 'Replay' }).waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })
})
