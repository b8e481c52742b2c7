import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { BuildLogWriter } from '../src/builds/queue/build-log-writer.ts'
import { listLogsByOffset, listLogsByTime, listWarnings, type TimePage } from '../src/builds/read/build-logs.ts'
import { claimBuild } from '../src/builds/queue/claim-build.ts'
import { messagesOf, queueBuild } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World
let buildId: string
let log: BuildLogWriter
beforeEach(async () => {
  world = await createWorld()
  buildId = await queueBuild(world)
  const claimed = await claimBuild(world.database, { serverId: 1, timeoutMs: 3_600_000 })
  if (claimed === undefined) throw new Error('nothing was claimed')
  log = new BuildLogWriter({ database: world.database, log: silentLogger(), maxLines: 3000 }, claimed, 0)
})
afterEach(() => world[Symbol.asyncDispose]())

it('stores lines in order, numbers them without gaps, and reads them by number, level and time', async () => {
  const levels = ['debug', 'info', 'warn', 'error'] as const
  for (let line = 0; line < 40; line += 1) {
    log.write({ level: levels[line % 4] ?? 'info', message: String(line), step: line < 20 ? 'base' : '1' })
    if (line % 9 === 0) await log.flush()
  }
  await log.flush()
  const { db } = world.database
  const numbers = Array.from({ length: 40 }, (_, line) => String(line))
  expect(await messagesOf(world, buildId)).toEqual(numbers)
  const page = async (options: Omit<Parameters<typeof listLogsByOffset>[1], 'buildId'>) =>
    (await listLogsByOffset(db, { buildId, ...options })).map(({ message }) => message)
  expect(await page({ offset: 10, limit: 5 })).toEqual(numbers.slice(10, 15))
  expect(await page({ offset: 40, limit: 5 })).toEqual([])
  expect(await page({ offset: 0, limit: 0 })).toEqual([])
  expect(await page({ offset: 1, limit: 3, level: 'warn' })).toEqual(['3', '6', '7'])
  expect(await page({ offset: 3, limit: 2, level: 'debug' })).toEqual(['3', '4'])

  await sql`update build_log set time = to_timestamp(seq) where build_id = ${buildId}`.execute(db)
  const window = async (options: Pick<TimePage, 'direction' | 'limit'> & Partial<TimePage>) =>
    (await listLogsByTime(db, { buildId, cursor: undefined, ...options })).map(({ message }) => message)
  expect(await window({ direction: 'forward', cursor: new Date(10_000), limit: 3 })).toEqual(['9', '10', '11'])
  expect(await window({ direction: 'backward', cursor: new Date(10_000), limit: 3, level: 'error' })).toEqual(['7', '3'])
  expect(await window({ direction: 'forward', limit: 2 })).toEqual(['0', '1'])
  expect(await window({ direction: 'backward', limit: 2 })).toEqual(['39', '38'])

  const warnings = await listWarnings(db, buildId, 'base')
  const ofBase = warnings.map(({ message, step }) => [message, step])
  expect(ofBase.slice(-4)).toEqual(['14', '15', '18', '19'].map((line) => [line, 'base']))
  expect(await listWarnings(db, buildId, 'finalize')).toEqual([])
})

it('truncates long messages at a whole character', async () => {
  log.write({ level: 'info', message: `${'x'.repeat(65_535)}é and more` })
  log.write({ level: 'info', message: '€'.repeat(50_000) })
  await log.flush()
  const [first = '', second = ''] = await messagesOf(world, buildId)
  expect(first).toBe('x'.repeat(65_535))
  expect(second).toBe('€'.repeat(21_845))
})

it('stores lines up to the cap, warns once, and still stores the error of the build', async () => {
  for (let line = 0; line < 3010; line += 1) log.write({ level: 'info', message: 'x' })
  log.write({ level: 'error', message: 'why' })
  await log.flush()
  const { log_count, log_bytes } = await world.database.db
    .selectFrom('build')
    .select(['log_count', 'log_bytes'])
    .where('build_id', '=', buildId)
    .executeTakeFirstOrThrow()
  expect(log_count).toBe(3002)
  const { rows } = await sql<{
    bytes: number
  }>`select sum(octet_length(message)) as bytes from build_log where build_id = ${buildId}`.execute(world.database.db)
  expect(log_bytes).toBe(rows[0]?.bytes)
  const last = await listLogsByOffset(world.database.db, { buildId, offset: 2999, limit: 100 })
  expect(last.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'x'],
    ['warn', 'The log of this build has reached its limit: what follows is not kept.'],
    ['error', 'why'],
  ])
})
