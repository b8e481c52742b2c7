import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { EngineArchive } from '@sandyard/runtime/engine-archive'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import { checkArchive } from '../src/check-archive.ts'
import { createBackup, type BackupOptions } from '../src/create-backup.ts'
import { restoreFiles } from '../src/restore-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-backup-engine-'))
const STORED = Buffer.alloc(3_000_000, 'image')
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await using opened = new Database({ url: database.url, applicationName: 'test', log: silentLogger() })
  await opened.db
    .insertInto('server_setting')
    .values([
      { name: 'installation_id', value: 'abc' },
      { name: 'engine_id', value: 'e1' },
    ])
    .execute()
  const rows = await SandboxRows.create(opened)
  for (const id of ['ipaused', 'igone', 'iold', 'irunning']) await rows.insert(id)
  for (const id of ['ipaused', 'igone', 'iold']) await rows.setState(id, 'paused')
  await rows.setState('irunning', 'running', { endpoint_host: '127.0.0.1', endpoint_daemon_port: 1 })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** An engine with the image `x`; what it was asked for is in `asked`. */
function fakeEngine(change: Partial<EngineArchive> = {}): { readonly engine: EngineArchive; readonly asked: string[] } {
  const asked: string[] = []
  const engine: EngineArchive = {
    engineId: async () => 'e1',
    snapshot: async ({ sandboxId }, name) => {
      asked.push(`snapshot ${sandboxId}`)
      if (sandboxId === 'igone') throw new AppError('not_found', 'It does not exist.')
      if (sandboxId === 'iold') throw new AppError('failed_precondition', 'It is too old.')
      return { runtime: 'fake', version: 1, engine: 'e1', image: `snapshot:${name}` } as RuntimeSnapshot
    },
    deleteSnapshot: async () => void asked.push('delete'),
    imageExists: async () => true,
    save: async (images) => {
      asked.push(`save ${images.length}`)
      return Readable.from([STORED], { objectMode: false })
    },
    load: () => Promise.reject(new Error('a backup loads nothing')),
    listVolumes: async () => ['v1', 'gone', 'v2'],
    saveVolume: async (name) => {
      asked.push(`volume ${name}`)
      if (name === 'gone') throw new AppError('not_found', 'It does not exist.')
      return Readable.from([Buffer.from(`files of ${name}`)], { objectMode: false })
    },
    loadVolume: () => Promise.reject(new Error('a backup loads nothing')),
    ...change,
  }
  return { engine, asked }
}

const said: string[] = []

function options(name: string, engine: EngineArchive): BackupOptions {
  return {
    file: join(folder, name),
    databaseUrl: database.url,
    sandyardVersion: '0.1.0',
    uploadsFolder: folder,
    credentialsFile: join(folder, 'none'),
    openEngine: async () => engine,
    say: (line) => said.push(line),
    signal: new AbortController().signal,
  }
}

it('stores the images of rows and the files of paused sandboxes, and leaves nothing of them on the engine', async () => {
  const { engine, asked } = fakeEngine()
  const manifest = await createBackup(options('whole.tar', engine))
  expect(asked).toEqual([
    'snapshot igone',
    'snapshot iold',
    'snapshot ipaused',
    'save 2',
    'volume v1',
    'volume gone',
    'volume v2',
    'delete',
  ])
  expect(manifest).toMatchObject({
    hasImages: true,
    missingImages: [],
    paused: [{ sandboxId: 'ipaused', incarnation: 1 }],
    volumes: ['v1', 'v2'],
  })
  expect(manifest.images).toEqual(['x', manifest.paused[0]?.snapshot.image])
  expect(said.filter((line) => line.includes('left out'))).toHaveLength(3)

  const { file } = options('whole.tar', engine)
  expect(await checkArchive(file)).toEqual(manifest)
  const loaded: Buffer[] = []
  const load = async (archive: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of archive) loaded.push(Buffer.from(chunk))
  }
  const volumes = new Map<string, string>()
  const loadVolume = async (name: string, archive: AsyncIterable<Uint8Array>): Promise<boolean> => {
    if (name !== 'v1') return false
    volumes.set(name, Buffer.concat(await Array.fromAsync(archive)).toString())
    return true
  }
  const restored: string[] = []
  await restoreFiles({ file, uploadsFolder: folder, engine: { load }, volumes: { loadVolume }, say: (line) => restored.push(line) })
  expect([...volumes]).toEqual([['v1', 'files of v1']])
  expect(restored).toContain('the engine has the volume v2: its files stay as they are')
  expect(Buffer.concat(loaded).equals(STORED)).toBe(true)
})

it('names images that the engine does not have', async () => {
  const { engine, asked } = fakeEngine({ imageExists: async () => false })
  expect(await createBackup(options('missing.tar', engine))).toMatchObject({ missingImages: ['x'] })
  expect(asked).toContain('save 1')
})

it('refuses another engine, and leaves no file and no snapshot when the engine fails', async () => {
  const other = fakeEngine({ engineId: async () => 'e2' })
  await expect(createBackup(options('failed.tar', other.engine))).rejects.toThrow('another Docker engine (e1)')
  expect(other.asked).toEqual([])
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield STORED
    throw new AppError('unavailable', 'The engine is gone.')
  }
  const failing = fakeEngine({ save: async () => Readable.from(broken(), { objectMode: false }) })
  await expect(createBackup(options('failed.tar', failing.engine))).rejects.toThrow('The engine is gone.')
  expect(failing.asked).toContain('delete')
  expect(readdirSync(folder).filter((name) => name.startsWith('failed.tar'))).toEqual([])
})
