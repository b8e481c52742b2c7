import { expect, test } from 'vitest'
import { openTab, show, useBrowser } from './support/browser.ts'
import { dashboardUrl, server } from './support/server.ts'

const browser = useBrowser()

test('a key logs in, a wrong one is refused with a reason, and after the logout the session is over', async () => {
  await using tab = await openTab(browser(), 'nobody')
  const { page, context } = tab
  await show(page, '/keys', { heading: 'Sign in to Sandyard' })
  const field = page.getByLabel('Team API key')
  await field.fill('e2b_00000000000000000000000000000000')
  await field.press('Enter')
  await page.getByRole('alert').waitFor()
  await field.fill(server.apiKey)
  await field.press('Enter')
  // The screen that was asked for is there after the login.
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  expect(await page.evaluate<string>('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
    server.apiKey,
  )
  const [cookie] = (await context.cookies()).filter(({ name }) => name.includes('sandyard'))
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in to Sandyard' }).waitFor()
  const kept = await fetch(`${dashboardUrl}/api/me`, { headers: { cookie: `${cookie?.name}=${cookie?.value}` } })
  expect(kept.status).toBe(401)
})
