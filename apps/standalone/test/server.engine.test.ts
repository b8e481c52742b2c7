import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { roleFilter } from '@sandyard/runtime-docker/labels'
import { commandLine } from '../src/process/process-identity.ts'
import { removeServer, RunningServer } from './running-server.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'standalone-server-'))
const servers: RunningServer[] = []

/** Without the warm pool, unless the settings turn it on: the tests count containers. */
function start(settings: NodeJS.ProcessEnv = {}): RunningServer {
  const server = new RunningServer(dataDir, { ...process.env, SANDYARD_POOL_MEMORY: '0', ...settings })
  servers.push(server)
  return server
}

afterAll(async () => {
  for (const server of servers) await server.end('SIGTERM')
  await removeServer(dataDir, process.env['DOCKER_HOST'])
})

function postgresPid(): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
}

async function containers(): Promise<number> {
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const id = readFileSync(join(dataDir, 'installation'), 'utf8').trim()
  return (await docker.listContainers({ all: true, filters: roleFilter(id, 'sandbox') })).length
}

it('prints the settings for clients, keeps them after a clean stop, and refuses a second server', async () => {
  const first = await start().ready()
  const key = first.setting('E2B_API_KEY')
  expect(key).toMatch(/^e2b_[0-9a-f]{40}$/)
  expect(first.setting('E2B_ACCESS_TOKEN')).toMatch(/^sk_e2b_[0-9a-f]{40}$/)
  expect((await fetch(`${first.setting('E2B_SANDBOX_URL')}/health`)).status).toBe(200)
  expect((await first.call('GET', '/v2/sandboxes')).status).toBe(200)
  expect(statSync(join(dataDir, 'credentials')).mode & 0o777).toBe(0o600)
  const log = readFileSync(join(dataDir, 'server.log'), 'utf8')
  expect(log).not.toContain(key)

  const second = start()
  await expect(second.ready()).rejects.toThrow(/already runs with the data in/)
  expect(await second.end('SIGTERM')).toBe(1)

  const postgres = postgresPid()
  expect(await first.end('SIGINT')).toBe(0)
  expect(commandLine(postgres)).toEqual([])

  const third = await start().ready()
  expect(third.setting('E2B_API_KEY')).toBe(key)
  expect((await third.call('GET', '/v2/sandboxes')).status).toBe(200)
  expect(await third.end('SIGTERM')).toBe(0)
})

it('finds its sandboxes after a kill, and removes those that have expired meanwhile', async () => {
  const first = await start().ready()
  const create = async (timeout: number): Promise<string> => {
    const answer = await first.call('POST', '/v2/sandboxes', { templateID: 'base', timeout })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { sandboxID: string }).sandboxID
  }
  const staying = await create(600)
  const leaving = await create(5)
  expect(await containers()).toBe(2)
  await first.end('SIGKILL')

  const second = await start().ready()
  expect(second.output).toContain('ended the Postgres of a server that was killed')
  await pollUntil({ what: 'the end of the sandbox', timeoutMs: 60_000, everyMs: 100 }, async () =>
    (await second.call('GET', `/sandboxes/${leaving}`)).status === 404 ? true : undefined,
  )
  expect((await second.call('GET', `/sandboxes/${staying}`)).status).toBe(200)
  await pollUntil({ what: 'the end of the container', timeoutMs: 30_000, everyMs: 100 }, async () =>
    (await containers()) === 1 ? true : undefined,
  )
  expect((await second.call('DELETE', `/sandboxes/${staying}`)).status).toBe(204)
  await pollUntil({ what: 'the removal', timeoutMs: 30_000, everyMs: 100 }, async () => ((await containers()) === 0 ? true : undefined))
  expect(await second.end('SIGTERM')).toBe(0)
})

it('has a sandbox ready for the next create, uses it after a kill, and frees it when it stops', async () => {
  const POOL = { SANDYARD_POOL_MEMORY: '0.1' }
  const waiting = { what: 'a sandbox of the warm pool', timeoutMs: 60_000, everyMs: 100 }
  const parked = async (server: RunningServer): Promise<true | undefined> =>
    (await server.metrics()).includes('sandyard_pool_sandboxes{state="parked"} 1') ? true : undefined
  const first = await start(POOL).ready()
  await pollUntil(waiting, () => parked(first))
  await first.end('SIGKILL')
  const second = await start(POOL).ready()
  await pollUntil(waiting, () => parked(second))
  expect(await containers()).toBe(1)
  expect(await second.end('SIGTERM')).toBe(0)
  expect(await containers()).toBe(0)
})

it('creates further credentials when the file belongs to another database', async () => {
  const first = await start().ready()
  const key = first.setting('E2B_API_KEY')
  await first.end('SIGTERM')
  const file = join(dataDir, 'credentials')
  const strange = readFileSync(file, 'utf8').replace(key, `e2b_${'0'.repeat(40)}`)
  writeFileSync(file, strange)
  const second = await start().ready()
  expect(second.output).toContain('it now has a further key')
  expect((await second.call('GET', '/v2/sandboxes')).status).toBe(200)
  await second.end('SIGTERM')
})

it('ends an interrupted start without leaving a database behind', async () => {
  const server = start()
  await server.printed('database: embedded Postgres')
  const postgres = postgresPid()
  expect(await server.end('SIGINT')).toBe(130)
  expect(commandLine(postgres)).toEqual([])
})
