import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'

export const BUNDLE = 'bundle.cjs'
const CACHE = 'bundle.cache'
const INSTANCE_KEY = 'training'

/** Runs the bundle with its cached code. V8 rejects a cache of another version, other flags or another source, and compiles as usual. */
const LAUNCH = `const { readFileSync } = require('node:fs')
const { Script } = require('node:vm')
const options = { filename: __dirname + '/${BUNDLE}' }
try {
  options.cachedData = readFileSync(__dirname + '/${CACHE}')
} catch {}
const script = new Script(readFileSync(options.filename, 'latin1'), options)
script.runInThisContext()(require)
`
const LAUNCH_AND_KEEP = `${LAUNCH}process.on('exit', () => require('node:fs').writeFileSync(__dirname + '/${CACHE}', script.createCachedData()))
`

/**
 * Writes the launcher that a sandbox starts and a code cache beside the bundle. The cache has the functions that V8 compiled in a training
 * run: a daemon on the loopback address served the first requests of a typical sandbox. Node's own cache lacks functions that are compiled at run time.
 *
 * @param toCommand the command that runs a launcher with the flags of a sandbox, which are part of the cache's key
 */
export async function writeLauncher(file: string, toCommand: (launcher: string) => readonly string[]): Promise<void> {
  const training = `${file}.training.cjs`
  await writeFile(training, LAUNCH_AND_KEEP)
  await runOnce(toCommand(training))
  await rm(training)
  await writeFile(file, LAUNCH)
}

async function runOnce([program = '', ...args]: readonly string[]): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'sandyard-training-'))
  const instanceFile = join(work, 'instance')
  await writeFile(instanceFile, createHash('sha512').update(INSTANCE_KEY).digest('hex'))
  const port = await findFreePort()
  const daemon = spawn(program, [...args, '-host', '127.0.0.1', '-port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      SANDYARD_RUN_DIRECTORY: work,
      SANDYARD_SYSTEM_ROOT: work,
      SANDYARD_INSTANCE_FILE: instanceFile,
      SANDYARD_LOG_LEVEL: 'silent',
    },
  })
  let complaints = ''
  daemon.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const ended = once(daemon, 'exit')
  try {
    await exercise(`http://127.0.0.1:${port}`, work)
    daemon.kill('SIGTERM')
    await ended
  } catch (error) {
    throw new Error(`the new build of the daemon does not work: ${complaints.slice(-1000)}`, { cause: error })
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
  const defaultUser = userInfo().username
  const identity = { sandboxID: 'sandbox', templateID: 'template', buildID: 'build', tunnelSecretHash: '0'.repeat(128) }
  // That of the start, and that of the create which claims the sandbox.
  for (const claim of [undefined, 'claim']) {
    const init = { identity, claim, envVars: { A: 'b' }, defaultUser, defaultWorkdir: '/', timestamp: new Date().toISOString() }
    await ask(`${url}/init`, JSON.stringify(init), { 'x-sandyard-instance-key': INSTANCE_KEY })
  }
  await ask(`${url}/logs?boot=&after=0&metrics=true`)
  await ask(`${url}/files?path=${work}/file`, 'x', { 'content-type': 'application/octet-stream' })
  await ask(`${url}/files?path=${work}/file`)
  for (const [method, body] of [
    ['process.Process/List', {}],
    ['filesystem.Filesystem/Stat', { path: work }],
    ['filesystem.Filesystem/ListDir', { path: work }],
  ] as const) {
    await ask(`${url}/${method}`, JSON.stringify(body), { 'content-type': 'application/json', 'connect-protocol-version': '1' })
  }
  for (let run = 0; run < 3; run += 1) await start(url)
}

/** Runs a command in a shell like the SDKs and reads its output and end. */
async function start(url: string): Promise<void> {
  const message = Buffer.from(
    JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', 'echo out; echo err >&2'], cwd: '/' }, stdin: false }),
  )
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const headers = { 'content-type': 'application/connect+json', 'connect-protocol-version': '1', 'connect-timeout-ms': '10000' }
  const answer = await ask(`${url}/process.Process/Start`, Buffer.concat([head, message]), headers)
  // Only root can start processes for an account. For other users the failed start still fills the cache.
  if (!answer.includes('"exit status 0"') && process.getuid?.() === 0) throw new Error(`a process did not run: ${answer}`)
}

async function ask(url: string, body?: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body, headers })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return text
}
