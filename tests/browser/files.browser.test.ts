import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, seen, show, useBrowser } from './support/browser.ts'

const browser = useBrowser()
const FILE = '/home/user/work/plan.txt'

const openMenu = (page: Page): Promise<void> => page.getByRole('button', { name: 'Files', exact: true }).click()

async function drop(page: Page, target: string, name: string, content: string): Promise<void> {
  const make = `(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}))
    return transfer
  })()`
  const data = await page.evaluateHandle(make)
  await page.dispatchEvent(target, 'drop', { dataTransfer: data })
}

test('files are edited with a check for conflicts, uploaded by a drop, downloaded, renamed and removed', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.files.write(FILE, 'one\n')
    await sandbox.files.write('/home/user/.profile', '# another one\n')
    await using tab = await openTab(browser(), 'developer')
    const { page, problems } = tab
    await show(page, `/sandboxes/${sandbox.sandboxId}/files?path=${encodeURIComponent(FILE)}`)
    const editor = page.locator('.cm-content')
    await editor.filter({ hasText: 'one' }).waitFor()
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('two')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await seen(page.getByText('Saved.'))
    expect(await sandbox.files.read(FILE)).toBe('one\ntwo')
    await expectNoBarriers(page, 'the editor')

    // A program writes it while the page has a text of its own.
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' mine')
    await sandbox.files.write(FILE, 'theirs\n')
    await page.getByText('The file was changed in the sandbox since you opened it.').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('dialog', { name: 'The file has changed meanwhile' })
    await conflict.waitFor()
    expect(await sandbox.files.read(FILE)).toBe('theirs\n')
    await conflict.getByRole('button', { name: 'Compare' }).click()
    await conflict.waitFor({ state: 'detached' })
    await page.locator('.cm-deletedChunk, .cm-deletedLine').first().waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => sandbox.files.read(FILE)).toBe('one\ntwo mine')

    for (const [target, name] of [
      ['.tree', 'on-the-tree.txt'],
      ['.file-pane', 'on-the-file.txt'],
    ] as const) {
      await drop(page, target, name, `dropped ${name}`)
      const path = target === '.tree' ? `/${name}` : `/home/user/work/${name}`
      await page.getByRole('treeitem', { name }).waitFor()
      expect(await sandbox.files.read(path, { user: 'root' })).toBe(`dropped ${name}`)
    }

    const waiting = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    const download = await waiting
    expect(download.suggestedFilename()).toBe('plan.txt')
    expect(await text(await download.createReadStream())).toBe('one\ntwo mine')

    await openMenu(page)
    await page.getByRole('button', { name: 'Rename…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('/home/user/work/done.txt')
    await dialog.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('treeitem', { name: 'done.txt' }).waitFor()
    expect(await sandbox.files.exists(FILE)).toBe(false)

    await openMenu(page)
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    // A tree that is read again meanwhile has no items for a moment.
    await expect.poll(() => sandbox.files.exists('/home/user/work/done.txt')).toBe(false)
    await page.getByRole('treeitem', { name: 'done.txt' }).waitFor({ state: 'detached' })

    // A file that a program makes appears by itself.
    await sandbox.files.write('/home/user/work/live.txt', 'x')
    await page.getByRole('treeitem', { name: 'live.txt' }).waitFor()

    await page.getByRole('button', { name: 'Changed since create' }).click()
    await page.getByText('live.txt').first().waitFor()
    await page.getByRole('button', { name: '/home/user/.profile' }).click()
    await page.locator('.cm-deletedChunk').first().waitFor()
    await expectNoBarriers(page, 'what has changed')
    expect(problems).toEqual([])
  })
})

// The browser drops requests when a network interface of its machine comes or goes, as with each sandbox of a server on the same machine.
test('a save whose answer is lost is sent again, and a file that has the text already is no conflict', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.files.write(FILE, 'one\n')
    await using tab = await openTab(browser(), 'developer')
    const { page } = tab
    await show(page, `/sandboxes/${sandbox.sandboxId}/files?path=${encodeURIComponent(FILE)}`)
    const editor = page.locator('.cm-content')
    await editor.filter({ hasText: 'one' }).waitFor()
    await page.route(
      (url) => url.pathname.endsWith('/files/content'),
      async (route) => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 },
    )
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('two')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await seen(page.getByText('Saved.'))
    await page.getByText('not saved', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await sandbox.files.read(FILE)).toBe('one\ntwo')
  })
})
