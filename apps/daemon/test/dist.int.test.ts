import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@connectrpc/connect'
import { createGrpcWebTransport } from '@connectrpc/connect-node'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDaemonDist } from '../build/dist.ts'
import { connectTo } from './support/process-client.ts'
import { run, sh } from './support/collect.ts'
import { unary } from './support/raw-rpc.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { VolumeServerProcess } from './support/volume-server.ts'

interface Manifest {
  readonly mount: string
  readonly command: readonly string[]
  readonly volumeServer: readonly string[]
}

const BUILD_MS = 180_000
let command: string[]
let volumeServer: string[]
let runDirectory: string
const started: ChildProcess[] = []

beforeAll(async () => {
  const { dir } = await ensureDaemonDist()
  const manifest = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as Manifest
  const here = (parts: readonly string[]): string[] => parts.map((part) => part.replaceAll(manifest.mount, dir))
  command = here(manifest.command)
  volumeServer = here(manifest.volumeServer)
  runDirectory = await mkdtemp(join(tmpdir(), 'daemon-dist-'))
}, BUILD_MS)
afterAll(async () => {
  for (const daemon of started) daemon.kill('SIGKILL')
  await rm(runDirectory, { recursive: true })
})

/** The built daemon, with a host name instead of an address. */
async function start(host: string): Promise<string> {
  const port = await findFreePort()
  const [program = '', ...args] = command
  const daemon = spawn(program, [...args, '-host', host, '-port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { SANDYARD_RUN_DIRECTORY: runDirectory, SANDYARD_LOG_LEVEL: 'silent' },
  })
  started.push(daemon)
  const url = `http://${host}:${port}`
  await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 20 }, () => {
    if (daemon.exitCode !== null) throw new Error(`the daemon ended with ${daemon.exitCode}`)
    return fetch(`${url}/health`).then(
      () => true,
      () => undefined,
    )
  })
  return url
}

// Only these tests notice a module that the bundle lacks.
describe('the built distribution with -host localhost', () => {
  it('serves all protocols', async () => {
    const url = await start('localhost')
    expect((await unary(url, 'filesystem.Filesystem/Stat', { path: '/etc' })).status).toBe(200)
    expect(await run(connectTo(url), sh('printf out'))).toMatchObject({ stdout: 'out', end: { exitCode: 0 } })
    const grpcWeb = createClient(Filesystem, createGrpcWebTransport({ baseUrl: url, httpVersion: '1.1' }))
    expect((await grpcWeb.stat({ path: '/etc' })).entry?.name).toBe('etc')
    // An error loads Fastify's error path and the log.
    expect((await fetch(`${url}/files?path=/nope-${process.pid}`)).status).toBe(404)
    expect((await fetch(`${url}/%zz`)).status).toBe(400)
  })
})

it('the built file service of volumes serves all operations below its root', async () => {
  await using scratch = await createScratchDirectory()
  await using server = await VolumeServerProcess.start(scratch.path, [], volumeServer)
  expect((await server.ask('PUT', '/file?path=/a/f&force=true', { body: 'text' })).status).toBe(201)
  expect((await server.ask('GET', '/file?path=/a/f')).text).toBe('text')
  expect((await server.ask('POST', '/dir?path=/d')).status).toBe(201)
  expect((await server.ask('PATCH', '/path?path=/d', { body: '{"mode":448}' })).json).toMatchObject({ mode: 0o700 })
  expect((await server.ask('GET', '/dir?path=/&depth=2')).text).toContain('/a/f')
  expect((await server.ask('GET', '/path?path=/etc')).status).toBe(404)
  expect((await server.ask('DELETE', '/path?path=/a')).status).toBe(204)
  expect(await readdir(scratch.path)).toEqual(['d'])
})
