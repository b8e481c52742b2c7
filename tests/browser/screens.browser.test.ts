import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, PATIENCE_MS, show, useBrowser, type As } from './support/browser.ts'
import { expectFitsNarrow } from './support/narrow.ts'
import { api } from './support/server.ts'

const browser = useBrowser()

let volumeId = ''
let webhookId = ''
let secretId = ''

beforeAll(async () => {
  ;({ volumeID: volumeId } = await api<{ volumeID: string }>('POST', '/volumes', { name: 'browser-screens' }))
  ;({ id: webhookId } = await api<{ id: string }>('POST', '/events/webhooks', {
    name: 'browser-screens',
    url: 'http://127.0.0.1:9/',
    events: ['sandbox.lifecycle.paused'],
    signatureSecret: 'a secret of the tests, 32 letters',
  }))
  ;({ secretID: secretId } = await api<{ secretID: string }>('POST', '/secrets', { name: 'browser_screens', value: 'x' }))
})
afterAll(async () => {
  await api('DELETE', `/volumes/${volumeId}`)
  await api('DELETE', `/events/webhooks/${webhookId}`)
  await api('DELETE', `/secrets/${secretId}`)
})

/** What needs nothing but the team itself. The screens of one sandbox, template and build are looked at by the tests that make them. */
const SCREENS: readonly (readonly [as: As, paths: readonly (string | (() => string))[]])[] = [
  ['nobody', ['/login']],
  ['developer', ['/', '/sandboxes', '/sandboxes/new', '/templates', '/builds']],
  ['developer', ['/volumes', () => `/volumes?volume=${volumeId}`, '/secrets', '/keys']],
  ['developer', ['/teams', '/webhooks', () => `/webhooks/${webhookId}`, '/usage', '/audit']],
  ['operator', ['/', '/teams', '/audit?allTeams=true', '/host']],
]

function namesOf(paths: readonly (string | (() => string))[]): string {
  return paths.map((path) => (typeof path === 'string' ? path : 'one of them')).join(' ')
}

for (const [as, paths] of SCREENS) {
  test.concurrent(`${namesOf(paths)} open for a ${as}, break no policy, and have no barriers in both schemes`, async () => {
    await using tab = await openTab(browser(), as)
    for (const given of paths) {
      const path = typeof given === 'string' ? given : given()
      await show(tab.page, path)
      await tab.loaded()
      await expectNoBarriers(tab.page, path)
      expect(tab.problems, path).toEqual([])
    }
  })
}

test.concurrent('dialogs, the palette and what does not exist have no barriers', async () => {
  await using tab = await openTab(browser(), 'developer')
  const { page } = tab
  await show(page, '/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').waitFor()
  await expectNoBarriers(page, 'a form in a dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await expectNoBarriers(page, 'keys')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await expectNoBarriers(page, 'the palette')
  await show(page, '/nothing-here', { heading: 'There is no such page.' })
  await expectNoBarriers(page, 'an unknown page')
  expect(tab.problems).toEqual([])
  await show(page, '/sandboxes/inotthere000000000000', { heading: 'inotthere000000000000' })
  await page.getByRole('alert').waitFor()
  await expectNoBarriers(page, 'an unknown sandbox')
})

test.concurrent('an operator runs the checks of the host', async () => {
  await using tab = await openTab(browser(), 'operator')
  const { page, problems } = tab
  await show(page, '/host')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  // Many checks ask the engine, which is slow while other tests use it.
  await page
    .locator('.host-check, .host-folded')
    .first()
    .waitFor({ timeout: 2 * PATIENCE_MS })
  await expectNoBarriers(page, 'checks')
  expect(problems).toEqual([])
})

test.concurrent('no screen is wider than a narrow window', async () => {
  await using tab = await openTab(browser(), 'developer', { viewport: { width: 400, height: 700 } })
  for (const path of ['/', '/sandboxes', '/sandboxes/new', '/templates', '/builds', '/keys', '/webhooks', '/usage', '/audit', '/teams']) {
    await show(tab.page, path)
    await tab.loaded()
    await expectFitsNarrow(tab.page, path)
  }
})
