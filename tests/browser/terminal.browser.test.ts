import { tmpdir } from 'node:os'
import type { Page, WebSocketRoute } from 'playwright-core'
import { expect, test } from 'vitest'
import { sandyard } from '../acceptance/support/sandyard.ts'
import { withSandbox } from '../acceptance/support/with-sandbox.ts'
import { expectNoBarriers } from './support/axe.ts'
import { openTab, seen, show, until, useBrowser } from './support/browser.ts'
import { api, server } from './support/server.ts'

const browser = useBrowser()

/** A program of the full window: it draws again when the window changes, as editors and pagers do. */
const FULL_SCREEN = `import os, signal, sys, time
def draw(*_):
    size = os.get_terminal_size()
    print(f"\\x1b[?1049h\\x1b[2J\\x1b[1;1Hfull {size.columns}x{size.lines}\\x1b[{size.lines};1Hbottom", end="", flush=True)
signal.signal(signal.SIGWINCH, draw)
draw()
sys.stdin.readline()
print("\\x1b[?1049l", end="", flush=True)
`

async function typeLine(page: Page, line: string): Promise<void> {
  await page.locator('.xterm-helper-textarea').first().focus()
  await page.keyboard.type(`${line}\n`)
}

async function seesInTerminal(page: Page, text: string | RegExp): Promise<void> {
  await seen(page.locator('.xterm-rows').filter({ hasText: text }))
}

async function openShell(page: Page, sandboxId: string): Promise<void> {
  await show(page, `/sandboxes/${sandboxId}/terminal`)
  await page.getByRole('button', { name: 'Open a shell', exact: true }).click()
  await seesInTerminal(page, '$')
}

test.concurrent('a newcomer goes from the printed link to a shell in a new sandbox', async () => {
  await using tab = await openTab(browser(), 'nobody')
  const { page, problems } = tab
  const output: string[] = []
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => typeof payload !== 'string' && output.push(payload.toString('latin1'))),
  )
  const printed = await sandyard(tmpdir(), ['dashboard'], { env: { SANDYARD_DATA_DIR: server.dataDirectory } })
  expect(printed).toMatchObject({ code: 0 })
  await page.goto(printed.stdout.trim())
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.getByRole('link', { name: 'New sandbox' }).first().click()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/sandboxes\/[a-z0-9]{10,}\/terminal/)
  const sandboxId = /sandboxes\/([a-z0-9]+)/.exec(page.url())?.[1] ?? ''
  try {
    await seesInTerminal(page, '$').catch((err: unknown) => {
      throw new Error(`The terminal got ${JSON.stringify(output)}`, { cause: err })
    })
    await typeLine(page, 'echo new-$((6*9))')
    await seesInTerminal(page, 'new-54')
    expect(problems).toEqual([])
  } finally {
    await api('DELETE', `/sandboxes/${sandboxId}`)
  }
})

test.concurrent('a shell and its full-screen program survive a reload', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.files.write('/home/user/full.py', FULL_SCREEN)
    await using tab = await openTab(browser(), 'developer')
    const { page, problems } = tab
    await openShell(page, sandbox.sandboxId)
    await typeLine(page, 'echo shell-$((6*7))')
    await seesInTerminal(page, 'shell-42')
    await expectNoBarriers(page, 'a terminal')
    await page.reload()
    await seesInTerminal(page, 'shell-42')

    await typeLine(page, 'python3 full.py')
    await seesInTerminal(page, /full \d+x\d+.*bottom/s)
    await page.reload()
    await seesInTerminal(page, /full \d+x\d+.*bottom/s)
    const former = await page.locator('.xterm-rows').first().textContent()
    await page.setViewportSize({ width: 900, height: 700 })
    await until(async () => (await page.locator('.xterm-rows').first().textContent()) !== former)
    await seesInTerminal(page, /full \d+x\d+.*bottom/s)
    await typeLine(page, '')
    // The program is over, and the shell is as it was before.
    await seesInTerminal(page, 'shell-42')
    expect(problems).toEqual([])
  })
})

test.concurrent('a lost network loses neither a shell nor a click', async () => {
  await withSandbox(async (sandbox) => {
    await using tab = await openTab(browser(), 'developer')
    const { page, context } = tab
    const network = await losableSockets(page)
    await openShell(page, sandbox.sandboxId)
    await typeLine(page, 'echo first-$((6*7))')
    await seesInTerminal(page, 'first-42')
    const before = await endOf(sandbox.sandboxId)

    await context.setOffline(true)
    await network.lose()
    await page.getByText('Offline, trying again').or(page.getByText('The server cannot be reached.')).first().waitFor()
    await page.getByRole('button', { name: '+15 min', exact: true }).click()
    await page.getByText('It is sent again as soon as the server answers.').waitFor()
    await typeLine(page, 'echo typed-$((6*8))')
    network.restore()
    await context.setOffline(false)

    await until(async () => (await endOf(sandbox.sandboxId)) > before)
    await seesInTerminal(page, 'first-42')
    await typeLine(page, 'echo again-$((6*9))')
    await seesInTerminal(page, 'again-54')
  })
})

test.concurrent('the main jobs need no mouse', async () => {
  await using tab = await openTab(browser(), 'developer')
  const { page, problems } = tab
  await show(page, '/')
  // The file with the keys comes after the screen.
  await tab.loaded()
  await palette(page, 'New sandbox')
  await page.getByRole('heading', { level: 1, name: 'New sandbox' }).waitFor()
  await page.getByRole('combobox').or(page.getByRole('textbox')).first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/sandboxes\/[a-z0-9]{10,}\/terminal/)
  const sandboxId = /sandboxes\/([a-z0-9]+)/.exec(page.url())?.[1] ?? ''
  try {
    await seesInTerminal(page, '$')
    // The shell has the focus.
    await page.keyboard.type('echo keys-$((6*7))\n')
    await seesInTerminal(page, 'keys-42')
    await page.keyboard.press('Control+Shift+ArrowUp')
    await until(() => page.evaluate<boolean>(`document.activeElement.closest('.xterm') === null`))

    await tabTo(page, 'Copy', 20)
    await palette(page, 'Go to Sandboxes')
    await page.getByRole('heading', { level: 1, name: 'Sandboxes' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(sandboxId)
    await page.waitForURL(new RegExp(`search=${sandboxId}`))
    await until(async () => (await page.locator('tr[data-row]').count()) === 1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByRole('group', { name: '1 selected' }).waitFor()
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: sandboxId }).waitFor()
    await tabTo(page, 'Kill…', 40)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Kill it', 10)
    await page.keyboard.press('Enter')
    await until(() => isGone(sandboxId))
    expect(problems).toEqual([])
  } finally {
    await api('DELETE', `/sandboxes/${sandboxId}`).catch(() => undefined)
  }
})

async function palette(page: Page, command: string): Promise<void> {
  await page.keyboard.press('Control+k')
  const box = page.getByRole('dialog').getByRole('combobox')
  await box.waitFor()
  await page.keyboard.type(command)
  await page.getByRole('option', { name: command, selected: true }).waitFor()
  await page.keyboard.press('Enter')
}

/** Presses Tab until the control with this text has the focus. */
async function tabTo(page: Page, text: string, most: number): Promise<void> {
  for (let press = 0; press < most; press += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate<string>(`document.activeElement?.textContent ?? ''`)).trim() === text) return
  }
  throw new Error(`${most} times Tab do not reach "${text}"`)
}

/** The live sockets of a page, which emulated networks leave open. */
async function losableSockets(page: Page): Promise<{ lose(): Promise<void>; restore(): void }> {
  const open = new Set<WebSocketRoute>()
  let isLost = false
  await page.routeWebSocket(/\/dashboard\/api\/live/, (socket) => {
    if (isLost) return void socket.close()
    open.add(socket)
    socket.connectToServer()
  })
  return {
    async lose() {
      isLost = true
      for (const socket of open) await socket.close()
      open.clear()
    },
    restore() {
      isLost = false
    },
  }
}

async function endOf(sandboxId: string): Promise<number> {
  return Date.parse((await api<{ endAt: string }>('GET', `/sandboxes/${sandboxId}`)).endAt)
}

async function isGone(sandboxId: string): Promise<boolean> {
  return api('GET', `/sandboxes/${sandboxId}`).then(
    () => false,
    () => true,
  )
}
