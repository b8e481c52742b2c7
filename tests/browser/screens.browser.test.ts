import { afterAll, expect, test } from 'vitest'
import { findBarriers } from './support/axe.ts'
import { expectLoaded, openTab, show, useBrowser, type As, type Tab } from './support/browser.ts'

const browser = useBrowser()

/** What needs nothing but the team itself. The screens of one sandbox, template and build are looked at by the tests that make them. */
const SCREENS: readonly (readonly [path: string, as: As])[] = [
  ['/login', 'nobody'],
  ['/', 'developer'],
  ['/sandboxes', 'developer'],
  ['/sandboxes/new', 'developer'],
  ['/templates', 'developer'],
  ['/builds', 'developer'],
  ['/volumes', 'developer'],
  ['/secrets', 'developer'],
  ['/keys', 'developer'],
  ['/teams', 'developer'],
  ['/webhooks', 'developer'],
  ['/usage', 'developer'],
  ['/audit', 'developer'],
  ['/teams', 'operator'],
  ['/host', 'operator'],
]

const tabs = new Map<As, Promise<Tab>>()
const tabOf = (as: As): Promise<Tab> => {
  const tab = tabs.get(as) ?? openTab(browser(), as)
  tabs.set(as, tab)
  return tab
}
afterAll(async () => {
  for (const tab of tabs.values()) await (await tab)[Symbol.asyncDispose]()
})

test.each(SCREENS)('%s opens for a %s, breaks no policy, and has no barriers in both schemes', async (path, as) => {
  const { page, problems } = await tabOf(as)
  const before = problems.length
  await show(page, path)
  await expectLoaded(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await findBarriers(page)).toEqual([])
  }
  expect(problems.slice(before)).toEqual([])
})
