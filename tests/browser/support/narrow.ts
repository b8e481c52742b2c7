import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const NARROW = { width: 390, height: 700 }
const FRAMES = 2

/** The page as it is does not scroll sideways on a phone. */
export async function expectFitsNarrow(page: Page, what: string): Promise<void> {
  const size = page.viewportSize()
  await page.setViewportSize(NARROW)
  // Charts and editors follow the size of the window in the next frame.
  for (let frame = 0; frame < FRAMES; frame++) await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))')
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), what).toBeLessThanOrEqual(0)
  if (size !== null) await page.setViewportSize(size)
}
