/**
 * Pictures of every screen of the dashboard in light and dark, for the docs and for eyes: `node tests/browser/screenshots.ts <folder>`. It needs a running
 * server with some data, named by E2B_API_URL, E2B_API_KEY and SANDYARD_ADMIN_TOKEN, and Chromium.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { ensureTestBrowser } from '../../tools/gate/test-browser.ts'

const SIZE = { width: 1440, height: 900 }
const PATIENCE_MS = 60_000

const { positionals } = parseArgs({ allowPositionals: true })
const [folder = 'screenshots', only] = positionals
const apiUrl = setting('E2B_API_URL')

type As = 'developer' | 'operator'

interface Shot {
  readonly name: string
  readonly path: string
  readonly as: As
}

function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

async function logIn(browser: Browser, as: As, colorScheme: 'light' | 'dark'): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme })
  context.setDefaultTimeout(PATIENCE_MS)
  const data = as === 'operator' ? { adminToken: setting('SANDYARD_ADMIN_TOKEN') } : { key: setting('E2B_API_KEY') }
  const response = await context.request.post(`${apiUrl}/dashboard/api/login`, { data, headers: { origin: apiUrl } })
  if (!response.ok()) throw new Error(`the login answered with ${response.status()}`)
  return context
}

/** The newest of each kind, so that the screens of one have something to show. */
async function findSubjects(context: BrowserContext): Promise<Shot[]> {
  const read = async <Row>(path: string): Promise<Row | undefined> => {
    const response = await context.request.get(`${apiUrl}/dashboard/api${path}`)
    if (!response.ok()) return undefined
    const body = (await response.json()) as { data?: Row[] } | Row[]
    return (Array.isArray(body) ? body : body.data)?.[0]
  }
  const shots: Shot[] = []
  const add = (name: string, path: string): void => void shots.push({ name, path, as: 'developer' })
  const template = await read<{ templateId: string }>('/templates')
  if (template !== undefined) add('template', `/templates/${template.templateId}`)
  const build = (await read<{ buildId: string }>('/builds?status=failed')) ?? (await read<{ buildId: string }>('/builds'))
  if (build !== undefined) add('build', `/builds/${build.buildId}`)
  const webhook = await read<{ id: string }>('/wire/events/webhooks')
  if (webhook !== undefined) add('webhook', `/webhooks/${webhook.id}`)
  const volume = await read<{ volumeID: string }>('/wire/volumes')
  if (volume !== undefined) add('volume', `/volumes?volume=${volume.volumeID}`)
  const sandbox = await read<{ sandboxId: string }>('/sandboxes')
  const tabs = ['timeline', 'monitoring', 'logs', 'terminal', 'files', 'processes', 'network', 'lineage']
  if (sandbox !== undefined) for (const tab of tabs) add(`sandbox-${tab}`, `/sandboxes/${sandbox.sandboxId}/${tab}`)
  return shots
}

const LISTS: readonly Shot[] = [
  ...[
    ['overview', '/'],
    ['sandboxes', '/sandboxes'],
    ['new-sandbox', '/sandboxes/new'],
    ['templates', '/templates'],
    ['builds', '/builds'],
    ['volumes', '/volumes'],
    ['secrets', '/secrets'],
    ['keys', '/keys'],
    ['team', '/teams'],
    ['webhooks', '/webhooks'],
    ['usage', '/usage'],
    ['audit', '/audit'],
  ].map(([name = '', path = '']) => ({ name, path, as: 'developer' as const })),
  { name: 'teams', path: '/teams', as: 'operator' },
  { name: 'host', path: '/host', as: 'operator' },
]

async function take(page: Page, { name, path }: Shot, scheme: string): Promise<void> {
  await page.goto(`${apiUrl}/dashboard${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) })
}

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: await ensureTestBrowser((line) => process.stdout.write(`${line}\n`)),
  args: ['--no-sandbox'],
})
try {
  for (const scheme of ['light', 'dark'] as const) {
    const contexts = { developer: await logIn(browser, 'developer', scheme), operator: await logIn(browser, 'operator', scheme) }
    const pages = { developer: await contexts.developer.newPage(), operator: await contexts.operator.newPage() }
    const shots = [...LISTS, ...(await findSubjects(contexts.developer))]
    for (const shot of shots.filter(({ name }) => only === undefined || only.split(',').includes(name))) {
      await take(pages[shot.as], shot, scheme).catch((err: unknown) => process.stderr.write(`${shot.name}: ${(err as Error).message}\n`))
    }
    const nobody = await browser.newContext({ viewport: SIZE, colorScheme: scheme })
    if (only === undefined) await take(await nobody.newPage(), { name: 'login', path: '/login', as: 'developer' }, scheme)
  }
} finally {
  await browser.close()
}
