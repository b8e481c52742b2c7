import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import type { BuildLine } from '@sandyard/dashboard-contract/templates'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { LivePage } from '../support/live-page.ts'
import { insertBuild, insertTemplate, seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let browser: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  ours = await seedParty(world, 'Ours')
  browser = await new Browser(api).logIn({ key: ours.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

const MAX_BYTES = 1024 ** 2
const bytesOf = (lines: readonly BuildLine[]): number => Buffer.byteLength(JSON.stringify(lines))

/** Lines of 60 KiB, which are six times as long as JSON. */
async function append(buildId: string, from: number, count: number): Promise<void> {
  const message = '\u001B'.repeat(60 * 1024)
  const rows = Array.from({ length: count }, (_, at) => {
    return { build_id: buildId, seq: from + at, time: new Date(), level: 'info' as const, step: '1', message }
  })
  await world.database.db.insertInto('build_log').values(rows).execute()
}

it('sends the lines of a build in frames of a bounded size, without losing one', async () => {
  const templateId = await insertTemplate(world, ours, { alias: 'loud' })
  const buildId = await insertBuild(world, templateId, { status: 'building' })
  await append(buildId, 1, 20)
  await using page = await LivePage.open(api, browser)
  const id = page.subscribe(`build:${buildId}`)
  const { data } = await page.frame('snapshot', (frame) => frame.id === id)
  const { lines } = data as Topics['build']['snapshot']
  expect(lines.at(-1)?.number).toBe(20)
  expect(bytesOf(lines)).toBeLessThanOrEqual(MAX_BYTES + lines.length)
  await append(buildId, 21, 10)
  const patches = () =>
    page.frames.flatMap((frame) => (frame.t === 'patch' && frame.id === id ? ((frame.data as Topics['build']['patch']).lines ?? []) : []))
  await waitFor('the last line', () => patches().at(-1)?.number === 30)
  expect(patches().map(({ number }) => number)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
  for (const frame of page.frames) expect(JSON.stringify(frame).length, frame.t).toBeLessThan(2 * MAX_BYTES)
  expect(page.frames.map(({ t }) => t)).not.toContain('gap')
})

it('answers lines in pages of a bounded size', async () => {
  const templateId = await insertTemplate(world, ours, { alias: 'paged' })
  const buildId = await insertBuild(world, templateId, { status: 'failed' })
  await append(buildId, 1, 5)
  await world.database.db.updateTable('build').set({ reason_step: '1', reason_message: 'exit 1' }).where('build_id', '=', buildId).execute()
  const found: number[] = []
  for (let hasMore = true; hasMore;) {
    const { status, body } = await browser.call('GET', `/api/builds/${buildId}/lines?after=${found.at(-1) ?? 0}`)
    expect(status).toBe(200)
    expect(bytesOf(body.lines)).toBeLessThanOrEqual(MAX_BYTES + 10)
    found.push(...body.lines.map(({ number }: BuildLine) => number))
    hasMore = body.hasMore
  }
  expect(found).toEqual([1, 2, 3, 4, 5])
  const { body } = await browser.call('GET', `/api/builds/${buildId}`)
  expect(body.failingLines.map(({ number }: BuildLine) => number)).toEqual([5])
})

it('tells of a new build of the team at once', async () => {
  await using page = await LivePage.open(api, browser)
  const id = page.subscribe('builds')
  await page.frame('snapshot', (frame) => frame.id === id)
  const { body } = await api.call('POST', '/v3/templates', { apiKey: ours.apiKey, body: { name: 'fresh' } })
  const told = async () =>
    page.frames.some((frame) => frame.t === 'patch' && JSON.stringify(frame).includes(body.buildID)) ? true : undefined
  // Less than the time after which the topic looks by itself.
  await pollUntil({ what: 'the new build', timeoutMs: 8000, everyMs: 10 }, told)
})
