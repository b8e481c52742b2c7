import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Sandbox } from '@e2b/desktop'
import { chromium, type Browser, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coloursOf } from './support/colours.ts'
import { install } from './support/install.ts'
import { startTlsFront } from './support/tls-front.ts'

const BUILD_MS = 1_800_000
/** For a person to look at. */
const PICTURES = join(import.meta.dirname, '../../.tools/reports/desktop')

let desktop: Sandbox
let browser: Browser
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  browser = await chromium.launch({
    executablePath: process.env['SANDYARD_TEST_BROWSER'] ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox'],
  })
  await install('desktop')
  desktop = await Sandbox.create({ resolution: [1024, 768], timeoutMs: BUILD_MS, requestTimeoutMs: 120_000 })
}, BUILD_MS)
afterAll(async () => {
  await browser?.close()
  await desktop?.kill()
})

const run = async (command: string): Promise<string> => (await desktop.commands.run(command)).stdout.trim()
async function picture(name: string): Promise<Buffer> {
  const bytes = Buffer.from(await desktop.screenshot())
  writeFileSync(join(PICTURES, `${name}.png`), bytes)
  return bytes
}

describe('the desktop', () => {
  it('has the screen that was asked for, with a picture on it', async () => {
    expect(await desktop.getScreenSize()).toEqual({ width: 1024, height: 768 })
    // The session has started before it has drawn everything.
    await expect.poll(async () => (await coloursOf(browser, await picture('desktop'))).colours).toBeGreaterThan(50)
    expect(await coloursOf(browser, await picture('desktop'))).toMatchObject({ width: 1024, height: 768 })
  })

  it('moves, clicks and drags', async () => {
    await desktop.moveMouse(200, 300)
    expect(await desktop.getCursorPosition()).toEqual({ x: 200, y: 300 })
    await desktop.rightClick(600, 500)
    await expect.poll(() => run('xdotool search --onlyvisible --class xfdesktop | wc -l')).not.toBe('0')
    await picture('menu')
    await desktop.press('esc')
    await desktop.drag([300, 300], [400, 450])
    expect(await desktop.getCursorPosition()).toEqual({ x: 400, y: 450 })
    await desktop.scroll('down', 2)
    await desktop.doubleClick(500, 600)
  })

  it('types into a program that it launches', async () => {
    await desktop.launch('xfce4-terminal')
    await expect.poll(() => desktop.getApplicationWindows('xfce4-terminal').catch(() => [])).not.toEqual([])
    const [window = ''] = await desktop.getApplicationWindows('xfce4-terminal')
    await run(`xdotool windowactivate --sync ${window}`)
    expect(await desktop.getWindowTitle(await desktop.getCurrentWindowId())).toMatch(/terminal/i)
    // For each character that its keyboard does not have xdotool changes the keyboard, and slow programs miss changes that come fast.
    await desktop.write("echo 'typed: € done' > /tmp/typed", { chunkSize: 25, delayInMs: 250 })
    await desktop.press('enter')
    await expect.poll(() => run('cat /tmp/typed 2>/dev/null || true')).toBe('typed: € done')
    await picture('terminal')
  })

  it('opens a page in a browser', { timeout: 400_000 }, async () => {
    await desktop.files.write('/home/user/page.html', '<title>Hello from a file</title><body style="background:#0a0">')
    await desktop.open('/home/user/page.html')
    await expect.poll(() => run('xdotool search --onlyvisible --name "Hello from a file" | wc -l'), { timeout: 300_000 }).not.toBe('0')
    await picture('browser')
  })
})

/** Chromium ends its requests when an interface of the host comes or goes, as those of sandboxes do: then the page is loaded again. */
async function openStream(page: Page, url: URL): Promise<Locator> {
  const canvas = page.locator('canvas')
  const isShown = async (): Promise<boolean> => {
    await page.goto(url.href)
    return canvas.waitFor({ timeout: 15_000 }).then(
      () => true,
      () => false,
    )
  }
  await expect.poll(isShown, { timeout: 120_000 }).toBe(true)
  return canvas
}

/** Looks at the desktop in a page and clicks into it. */
async function useStream(name: string, toUrl: (url: URL) => void): Promise<void> {
  await desktop.stream.start({ requireAuth: true })
  const url = new URL(desktop.stream.getUrl({ authKey: desktop.stream.getAuthKey() }))
  toUrl(url)
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 }, ignoreHTTPSErrors: true })
  const canvas = await openStream(page, url)
  await expect.poll(async () => (await coloursOf(browser, await canvas.screenshot())).colours, { timeout: 30_000 }).toBeGreaterThan(50)
  await desktop.moveMouse(800, 600)
  await canvas.click({ position: { x: 150, y: 120 } })
  await expect.poll(async () => (await desktop.getCursorPosition()).x).toBeLessThan(200)
  writeFileSync(join(PICTURES, `${name}.png`), await page.screenshot())
  await page.close()
  await desktop.stream.stop()
}

describe('the stream', () => {
  it('is a page in a browser that shows the desktop and takes clicks, through the proxy', async () => {
    // The client writes https; this server is reached over plain http on names below localhost.
    await useStream('stream', (url) => (url.protocol = 'http:'))
  })

  it('is the same over TLS', async () => {
    await using front = await startTlsFront(process.env['E2B_SANDBOX_URL'] ?? '')
    await useStream('stream-tls', (url) => (url.port = String(front.port)))
  })
})
