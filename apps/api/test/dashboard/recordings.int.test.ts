import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_RECORDING_BYTES, MAX_TEAM_RECORDINGS, MAX_TEAM_RECORDINGS_BYTES } from '@sandyard/dashboard-contract/limits'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { startPostgresServer, type PostgresServer } from '@sandyard/test-kit/postgres-server'
import { castHeader } from '../../src/dashboard/recordings/cast-lines.ts'
import { Recorder } from '../../src/dashboard/recordings/recorder.ts'
import { appendPart, insertRecording, type NewRecording } from '../../src/dashboard/recordings/recording-rows.ts'
import { deleteOldRecordings, endLostRecordings } from '../../src/dashboard/recordings/tidy-recordings.ts'
import { createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let postgres: PostgresServer
let world: World
let api: Server
let theirs: Party
let browser: Browser
let stranger: Browser
const stopping = new AbortController()
beforeAll(async () => {
  // Its own server, because one of the tests stops it.
  postgres = await startPostgresServer()
  world = await createWorld(await createTestDatabase(postgres.url))
  api = await world.startServer()
  theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
  stranger = await new Browser(api).logIn({ key: theirs.apiKey })
})
afterAll(async () => {
  stopping.abort()
  await world[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

function newRecording(change: Partial<NewRecording> = {}): NewRecording {
  const of = { cols: 80, rows: 24, startedAt: new Date(), title: 'user@i1' }
  return {
    recordingId: randomUUID(),
    teamId: world.teamId,
    sandboxId: `i${randomUUID().replaceAll('-', '').slice(0, 19)}`,
    terminalId: randomUUID(),
    header: castHeader(of),
    ...of,
    ...change,
  }
}

async function record(change: Partial<NewRecording> = {}) {
  const made = newRecording(change)
  const { db } = world.database
  expect(await insertRecording(db, made)).toBe(true)
  const over: string[] = []
  const recorder = new Recorder({
    recordingId: made.recordingId,
    headerBytes: made.header.length,
    append: (part) => appendPart(db, part),
    onOver: (text) => over.push(text),
    signal: stopping.signal,
  })
  return { ...made, recorder, over }
}

const list = async (sandboxId: string, by = browser) => by.call('GET', `/api/sandboxes/${sandboxId}/recordings`)
const read = ({ sandboxId, recordingId }: Pick<NewRecording, 'sandboxId' | 'recordingId'>, by = browser) =>
  by.call('GET', `/api/sandboxes/${sandboxId}/recordings/${recordingId}`)
const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
const outputOf = (text: string): string =>
  linesOf(text)
    .slice(1)
    .map((line) => ((line as string[])[1] === 'o' ? (line as string[])[2] : ''))
    .join('')

it('stores what a terminal prints while it prints, as asciicast v2, for sessions of the team only', async () => {
  const made = await record()
  const { recorder, sandboxId, recordingId } = made
  const text = Buffer.from('hello \u001b[1mü🙂\r\n')
  recorder.write(text.subarray(0, text.length - 6))
  recorder.resize(100, 30)
  recorder.write(text.subarray(text.length - 6))
  await waitFor('a part, while it goes on', async () => (await read(made)).text.includes('100x30'))
  expect((await list(sandboxId)).body.data).toMatchObject([{ recordingId, endedAt: null, isTruncated: false, cols: 80, rows: 24 }])
  recorder.end()
  await recorder.done
  recorder.write(Buffer.from('after the end'))

  const answer = await read(made)
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-security-policy': 'sandbox',
      'content-disposition': `attachment; filename*=UTF-8''${recordingId}.cast`,
      'content-length': String(Buffer.byteLength(answer.text)),
    },
  })
  expect(linesOf(answer.text)[0]).toMatchObject({ version: 2, width: 80, height: 24, title: 'user@i1', timestamp: expect.any(Number) })
  expect(outputOf(answer.text)).toBe(text.toString())
  expect((await list(sandboxId)).body.data).toEqual([
    {
      recordingId,
      terminalId: made.terminalId,
      title: 'user@i1',
      startedAt: made.startedAt.toISOString(),
      endedAt: expect.stringMatching(/Z$/),
      bytes: Buffer.byteLength(answer.text),
      isTruncated: false,
      cols: 80,
      rows: 24,
    },
  ])

  expect((await read(made, stranger)).status).toBe(404)
  expect((await read(made, new Browser(api))).status).toBe(401)
  expect((await read({ sandboxId: 'iother', recordingId })).status).toBe(404)
  expect((await read({ sandboxId, recordingId: randomUUID() })).status).toBe(404)
  expect((await read({ sandboxId, recordingId: 'x' })).status).toBe(400)
  expect((await list(sandboxId, stranger)).status).toBe(404)
  const path = `/api/sandboxes/${sandboxId}/recordings/${recordingId}`
  expect((await stranger.call('DELETE', path)).status).toBe(404)
  expect((await browser.call('DELETE', path, { origin: null })).status).toBe(403)
  expect((await browser.call('DELETE', path)).status).toBe(204)
  expect((await browser.call('DELETE', path)).status).toBe(404)
  expect((await read(made)).status).toBe(404)
})

it('ends at the largest size, with whole lines, and says so', async () => {
  const made = await record()
  const { recorder, over } = made
  const line = Buffer.from(`${'x'.repeat(60_000)}\n`)
  for (let count = 0; count < 200 && over.length === 0; count += 1) {
    recorder.write(line)
    await recorder.room(stopping.signal)
  }
  expect(over).toEqual([expect.stringContaining('largest size')])
  await recorder.done
  const [stored] = (await list(made.sandboxId)).body.data
  expect(stored).toMatchObject({ isTruncated: true, endedAt: expect.any(String) })
  expect(stored.bytes).toBeLessThanOrEqual(MAX_RECORDING_BYTES)
  expect(stored.bytes).toBeGreaterThan(MAX_RECORDING_BYTES - 70_000)
  const { text } = await read(made)
  expect(Buffer.byteLength(text)).toBe(stored.bytes)
  expect(outputOf(text)).toBe(line.toString().repeat(outputOf(text).length / line.length))
})

it('does not go beyond the size and the number of a team, and leaves other teams their room', async () => {
  const { db } = world.database
  const made = await record({ teamId: theirs.teamId })
  await db
    .updateTable('terminal_recording')
    .set({ bytes: MAX_TEAM_RECORDINGS_BYTES - 10 })
    .where('recording_id', '=', made.recordingId)
    .execute()
  made.recorder.write(Buffer.from('more than is left'))
  await made.recorder.done
  expect(made.over).toEqual([expect.stringContaining('your team')])
  expect((await list(made.sandboxId, stranger)).body.data).toMatchObject([{ isTruncated: true, endedAt: expect.any(String) }])
  expect(await insertRecording(db, newRecording({ teamId: theirs.teamId }))).toBe(false)
  expect(await insertRecording(db, newRecording())).toBe(true)
  await db.updateTable('terminal_recording').set({ bytes: 0 }).where('recording_id', '=', made.recordingId).execute()
  await sql`
    insert into terminal_recording (team_id, sandbox_id, terminal_id, title, cols, rows, seen_at, ended_at)
    select ${theirs.teamId}::uuid, 'imany', gen_random_uuid(), 't', 80, 24, now(), now() from generate_series(2, ${MAX_TEAM_RECORDINGS}::int)
  `.execute(db)
  expect(await insertRecording(db, newRecording({ teamId: theirs.teamId }))).toBe(false)
  expect((await list('imany', stranger)).body.data).toHaveLength(MAX_TEAM_RECORDINGS - 1)
})

it('stores a part once, however often it is sent', async () => {
  const { db } = world.database
  const made = newRecording()
  await insertRecording(db, made)
  const part = { recordingId: made.recordingId, number: 1, content: Buffer.from('[1,"o","x"]\n'), isEnd: false, isTruncated: false }
  expect(await appendPart(db, part)).toBe('stored')
  expect(await appendPart(db, part)).toBe('stored')
  expect(await appendPart(db, { ...part, number: 2, content: Buffer.alloc(0), isEnd: true })).toBe('stored')
  expect(await appendPart(db, { ...part, number: 2 })).toBe('gone')
  const { text } = await read(made)
  expect(text).toBe(made.header.toString() + part.content.toString())
  expect((await list(made.sandboxId)).body.data[0].bytes).toBe(text.length)
})

it('ends when it is removed meanwhile', async () => {
  const made = await record()
  await browser.call('DELETE', `/api/sandboxes/${made.sandboxId}/recordings/${made.recordingId}`)
  made.recorder.write(Buffer.from('x'))
  await made.recorder.done
  expect(made.over).toEqual([expect.stringContaining('removed')])
})

it('is ended by another server after its own was killed, kept for its time, and deleted then', async () => {
  const { db } = world.database
  const [lost, live, old] = [newRecording(), newRecording(), newRecording({ startedAt: new Date(Date.now() - 8 * 86_400_000) })]
  for (const recording of [lost, live, old]) await insertRecording(db, recording)
  const seenAt = new Date(Date.now() - 10 * 60_000)
  await db.updateTable('terminal_recording').set({ seen_at: seenAt }).where('recording_id', '=', lost.recordingId).execute()
  await endLostRecordings(db)
  await deleteOldRecordings(db, stopping.signal)
  expect((await list(lost.sandboxId)).body.data).toMatchObject([{ endedAt: seenAt.toISOString(), isTruncated: true }])
  expect((await list(live.sandboxId)).body.data).toMatchObject([{ endedAt: null, isTruncated: false }])
  expect((await list(old.sandboxId)).status).toBe(404)
  const parts = db.selectFrom('terminal_recording_part').select('number').where('recording_id', '=', old.recordingId)
  expect(await parts.execute()).toEqual([])
})

it('shows recordings in the timeline of their sandbox', async () => {
  const made = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })
  const sandboxId: string = made.body.sandboxID
  const { recordingId, recorder } = await record({ sandboxId })
  recorder.end()
  await recorder.done
  const timeline = await browser.call('GET', `/api/sandboxes/${sandboxId}/timeline?lane=terminal`)
  expect(timeline.body.data).toMatchObject([
    { lane: 'terminal', kind: 'terminal.recorded', recordingId, text: 'Terminal: user@i1', endedAt: expect.any(String) },
  ])
})

it('goes on after a short outage of the database, and is cut by a long one without holding up the terminal', async () => {
  const [short, long] = [await record(), await record()]
  await postgres.stop()
  short.recorder.write(Buffer.from('printed during the outage'))
  short.recorder.end()
  const began = performance.now()
  for (let count = 0; count < 40; count += 1) {
    long.recorder.write(Buffer.from('y'.repeat(16_000)))
    await long.recorder.room(stopping.signal)
  }
  // It waits once, and not again for each piece of output.
  expect(performance.now() - began).toBeLessThan(15_000)
  expect(long.over).toEqual([expect.stringContaining('database')])
  await postgres.start()
  await Promise.all([short.recorder.done, long.recorder.done])
  expect((await list(short.sandboxId)).body.data).toMatchObject([{ isTruncated: false, endedAt: expect.any(String) }])
  expect(outputOf((await read(short)).text)).toBe('printed during the outage')
  expect((await list(long.sandboxId)).body.data).toMatchObject([{ isTruncated: true, endedAt: expect.any(String) }])
  const text = outputOf((await read(long)).text)
  expect(text.length).toBeGreaterThan(100_000)
  expect(text).toBe('y'.repeat(text.length))
})
