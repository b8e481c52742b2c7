// Opens a page, or a file of this machine, in the browser of a desktop, clicks into it, scrolls, and keeps a picture of the screen.
// The printed address shows the desktop live, in your browser.
//
//   npm start -- <url or file> [picture.png]
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Sandbox } from '@e2b/desktop'

const PATIENCE_MS = 180_000

/** The title of the browser's window, once a page is in it. */
async function pageTitle(desktop) {
  for (const id of await desktop.getApplicationWindows('firefox').catch(() => [])) {
    const title = await desktop.getWindowTitle(id).catch(() => '')
    const [, page] = /^(.+) [—-] Mozilla Firefox$/.exec(title) ?? []
    if (page !== undefined) return page
  }
  return undefined
}

/** What the browser is to open: the address, or the path of the uploaded file. */
async function upload(desktop, file) {
  if (!existsSync(file)) return file
  return (await desktop.files.write(basename(file), new Blob([await readFile(file)]))).path
}

async function waitFor(what, look) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(500)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`no ${what} within ${PATIENCE_MS / 1000} s`)
}

const [page, picture = 'desktop.png'] = process.argv.slice(2)
if (page === undefined) {
  console.error('usage: npm start -- <url or file> [picture.png]')
  process.exit(64)
}
const desktop = await Sandbox.create({ resolution: [1280, 800], timeoutMs: 600_000, requestTimeoutMs: 120_000 })
try {
  await desktop.stream.start({ requireAuth: true })
  console.log(`watch: ${desktop.stream.getUrl({ authKey: desktop.stream.getAuthKey() })}`)
  await desktop.open(await upload(desktop, page))
  console.log(`page: ${await waitFor('page', () => pageTitle(desktop))}`)
  await desktop.leftClick(640, 500)
  await desktop.scroll('down', 3)
  await writeFile(picture, await desktop.screenshot())
  console.log(`picture: ${picture}`)
} finally {
  await desktop.kill()
}
