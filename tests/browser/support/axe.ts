import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** What axe-core finds in the page as it is, one line for each element. The policy of the page forbids scripts, so it is evaluated by the debugger. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${SOURCE};undefined`)
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] })
  const violations = await page.evaluate<AxeResults['violations']>(`axe.run(${options}).then(({ violations }) => violations)`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
