import { chromium, type BrowserServer } from 'playwright-core'
import { browserProgram } from './server.ts'

const START_TIMEOUT_MS = 90_000

let browser: BrowserServer | undefined

/** Starts one browser for a whole test run. vitest calls this before the workers start, and they inherit the variable. Root cannot have Chromium's own sandbox. */
export async function setup(): Promise<void> {
  browser = await chromium.launchServer({ executablePath: browserProgram, args: ['--no-sandbox'], timeout: START_TIMEOUT_MS })
  process.env['SANDYARD_TEST_BROWSER_SOCKET'] = browser.wsEndpoint()
}

export async function teardown(): Promise<void> {
  await browser?.close()
}
