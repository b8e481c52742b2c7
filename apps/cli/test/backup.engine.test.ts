import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { KeptImages } from '@sandyard/runtime-docker/images/kept-images'
import { removeServer, RunningServer } from '../../standalone/test/running-server.ts'
import { runCli, type CliResult } from './support/run-cli.ts'

// A server starts twice, and the images of the base template are written and read.
vi.setConfig({ testTimeout: 600_000 })

const folder = mkdtempSync(join(tmpdir(), 'sandyard-backup-e2e-'))
const file = join(folder, 'backup.tar')
const [former, restored] = [join(folder, 'former'), join(folder, 'restored')]
const DOCKER_HOST = process.env['DOCKER_HOST']
const engine: Record<string, string> = DOCKER_HOST === undefined ? {} : { DOCKER_HOST }
const servers: RunningServer[] = []

async function start(dataDir: string): Promise<RunningServer> {
  const server = new RunningServer(dataDir, process.env)
  servers.push(server)
  return server.ready()
}

async function sandyard(args: readonly string[], env: Record<string, string>): Promise<CliResult> {
  const result = await runCli({ args, env: { ...engine, ...env }, cwd: folder })
  expect(result.code, result.stderr).toBe(0)
  return result
}

const clientOf = (server: RunningServer): Record<string, string> => ({
  E2B_API_KEY: server.setting('E2B_API_KEY'),
  E2B_API_URL: server.setting('E2B_API_URL'),
  E2B_SANDBOX_URL: server.setting('E2B_SANDBOX_URL'),
})

async function create(server: RunningServer, templateID: string, more: object = {}): Promise<string> {
  const answer = await server.call('POST', '/v2/sandboxes', { templateID, timeout: 600, ...more })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { sandboxID: string }).sandboxID
}

async function run(server: RunningServer, sandboxId: string, command: string): Promise<string> {
  return (await sandyard(['exec', sandboxId, '--', 'sh', '-c', command], clientOf(server))).stdout
}

async function templatesOf(server: RunningServer): Promise<unknown[]> {
  const templates = (await (await server.call('GET', '/templates')).json()) as { templateID: string; buildID: string; names: unknown }[]
  const named = templates.map(({ templateID, buildID, names }) => ({ templateID, buildID, names }))
  return named.sort((left, right) => left.templateID.localeCompare(right.templateID))
}

afterAll(async () => {
  for (const server of servers) await server.end('SIGTERM')
  for (const dataDir of [former, restored]) await removeServer(dataDir, DOCKER_HOST).catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})

it('brings templates, snapshots, keys and the files of a paused sandbox back after everything was destroyed', async () => {
  const before = await start(former)
  // Its rules need the egress gateway.
  const network = { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] }
  const [paused, running] = [await create(before, 'base', { network }), await create(before, 'base')]
  await run(before, paused, 'echo paused > /home/user/kept')
  await run(before, running, 'echo snapshot > /home/user/kept')
  const taken = (await (await before.call('POST', `/sandboxes/${running}/snapshots`, {})).json()) as { snapshotID: string }
  expect((await before.call('POST', `/sandboxes/${paused}/pause`)).status).toBe(204)
  const templates = await templatesOf(before)
  const key = before.setting('E2B_API_KEY')
  const docker = await connectEngine(DOCKER_HOST)
  const images = new KeptImages(docker, readFileSync(join(former, 'installation'), 'utf8').trim())

  const made = await sandyard(['--json', 'backup', file], { SANDYARD_DATA_DIR: former })
  expect(JSON.parse(made.stdout)).toMatchObject({ images: 2, missingImages: [], pausedSandboxes: 1 })
  // The image with the files of the paused sandbox is only in the backup.
  expect((await images.list()).map(({ image }) => image).filter((image) => image.includes(':backup-'))).toEqual([])
  expect(((await (await before.call('GET', `/sandboxes/${running}`)).json()) as { state: string }).state).toBe('running')

  // Into a second database, on the engine of the running server.
  const refused = await runCli({ args: ['restore', file], env: { ...engine, SANDYARD_DATA_DIR: restored }, cwd: folder })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('A server of this installation') as string })

  await before.end('SIGTERM')
  await removeServer(former, DOCKER_HOST)
  expect(await images.list()).toEqual([])

  const back = await sandyard(['--json', 'restore', file], { SANDYARD_DATA_DIR: restored })
  expect(JSON.parse(back.stdout)).toMatchObject({ pausedSandboxes: 1, endedSandboxes: 1, leftOutSandboxes: [] })
  const after = await start(restored)
  expect(after.setting('E2B_API_KEY')).toBe(key)
  expect(await templatesOf(after)).toEqual(templates)
  expect((await after.call('GET', `/sandboxes/${running}`)).status).toBe(404)
  expect((await after.call('POST', `/sandboxes/${paused}/resume`, { timeout: 600 })).status).toBe(201)
  expect(await run(after, paused, 'cat /home/user/kept')).toBe('paused\n')
  expect(await run(after, await create(after, taken.snapshotID), 'cat /home/user/kept')).toBe('snapshot\n')
})
