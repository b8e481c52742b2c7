import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
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

const BUILD_MS = 180_000
let command: string[]
let runDirectory: string
const started: ChildProcess[] = []

beforeAll(async () => {
  const { dir } = await ensureDaemonDist()
  const manifest = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as { mount: string; command: string[] }
  command = manifest.command.map((argument) => argument.replaceAll(manifest.mount, dir))
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
