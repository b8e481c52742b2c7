import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'

/** What the launcher of the bundle and this file must agree on. */
export const CACHE_DIRECTORY = 'cache'

/** Loads the bundle with the machine code cache beside it. Portable, since it is made in another place than it is used. */
export const LAUNCHER = `require('node:module').enableCompileCache({ directory: __dirname + '/${CACHE_DIRECTORY}', portable: true })
require('./bundle.cjs')
`

/**
 * Runs the daemon of a distribution once, on loopback, through what every sandbox does first. At its end Node writes the code that it compiled on
 * the way into the cache, so that no sandbox compiles it again. Flags of the engine are part of the cache's key.
 */
export async function trainCompileCache(command: readonly string[]): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'sandyard-training-'))
  const port = await findFreePort()
  const [program = '', ...args] = command
  const daemon = spawn(program, [...args, '-host', '127.0.0.1', '-port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', SANDYARD_RUN_DIRECTORY: work, SANDYARD_LOG_LEVEL: 'silent' },
  })
  let complaints = ''
  daemon.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const ended = once(daemon, 'exit')
  try {
    await exercise(`http://127.0.0.1:${port}`, work)
    daemon.kill('SIGTERM')
    await ended
  } catch (error) {
    throw new Error(`the daemon that was just built does not work: ${complaints.slice(-1000)}`, { cause: error })
  } finally {
    daemon.kill('SIGKILL')
    await rm(work, { recursive: true, force: true })
  }
}

async function exercise(url: string, work: string): Promise<void> {
  const health = () =>
    fetch(`${url}/health`).then(
      () => true,
      () => undefined,
    )
  await pollUntil({ what: 'the daemon to answer', timeoutMs: 20_000, everyMs: 20 }, health)
  const user = process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? 'root')
  await fetch(`${url}/init`, {
    method: 'POST',
    body: JSON.stringify({ envVars: { A: 'b' }, defaultUser: user, timestamp: new Date().toISOString() }),
  })
  const upload = await fetch(`${url}/files?path=${work}/file`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: 'x',
  })
  await upload.text()
  await (await fetch(`${url}/files?path=${work}/file`)).text()
  await call(url, 'process.Process/List', {})
  await call(url, 'filesystem.Filesystem/Stat', { path: work })
  await call(url, 'filesystem.Filesystem/ListDir', { path: work })
  for (let run = 0; run < 3; run += 1) await start(url)
}

async function call(url: string, method: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1' }
  await (await fetch(`${url}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) })).text()
}

/** As the SDKs do: a command in a shell, its output and its end. */
async function start(url: string): Promise<void> {
  const message = Buffer.from(JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', 'echo out; echo err >&2'] }, stdin: false }))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const headers = { 'content-type': 'application/connect+json', 'connect-protocol-version': '1', 'connect-timeout-ms': '10000' }
  const response = await fetch(`${url}/process.Process/Start`, { method: 'POST', headers, body: Buffer.concat([head, message]) })
  await response.text()
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
