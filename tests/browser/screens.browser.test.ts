import { expect, test } from 'vitest'
import { findBarriers } from './support/axe.ts'
import { openTab, show, useBrowser } from './support/browser.ts'

const browser = useBrowser()

test('the login page opens without a session, breaks no policy and has no barriers', async () => {
  await using tab = await openTab(browser(), 'nobody')
  await show(tab.page, '/login')
  expect(await findBarriers(tab.page)).toEqual([])
  expect(tab.problems).toEqual([])
})
