import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ALL = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] }
/** The rules about colours, which is all that differs between the schemes. */
const COLOURS = { runOnly: ['color-contrast', 'link-in-text-block'], resultTypes: ['violations'] }

/** axe-core finds nothing in the page as it is: every rule in light, those about colours in dark. */
export async function expectNoBarriers(page: Page, what?: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await findBarriers(page, ALL), what).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await findBarriers(page, COLOURS), `${what ?? ''} (dark)`).toEqual([])
}

/** One line for each element. The policy of the page forbids scripts, so the code is evaluated by the debugger. */
async function findBarriers(page: Page, options: object): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`${SOURCE};undefined`)
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`
  const violations = await page.evaluate<AxeResults['violations']>(run)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
