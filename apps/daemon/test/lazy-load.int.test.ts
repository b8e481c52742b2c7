import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { expect, it } from 'vitest'
import { bundleDaemon, findKoffiBinary, KOFFI_BINARY } from '../build/bundle.ts'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { envelope } from './support/raw-rpc.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'

const OPEN_FILES = 64
const LAUNCH = `const { readFileSync } = require('node:fs')
new (require('node:vm').Script)(readFileSync(__dirname + '/bundle.cjs', 'latin1')).runInThisContext()(require)
`

/** The bundle loads the foreign-function library from a file beside it, at the first start of a process. */
it('[process.Process/Start] succeeds when descriptors are free again, although the first load of a library had none', async () => {
  await using scratch = await createScratchDirectory()
  await bundleDaemon(join(scratch.path, 'bundle.cjs'))
  await copyFile(findKoffiBinary(), join(scratch.path, KOFFI_BINARY))
  await writeFile(join(scratch.path, 'launch.cjs'), LAUNCH)
  const port = await findFreePort()
  const daemon = spawn(
    '/usr/bin/prlimit',
    [`--nofile=${OPEN_FILES}`, process.execPath, join(scratch.path, 'launch.cjs'), '-host', '127.0.0.1', '-port', String(port)],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { SANDYARD_RUN_DIRECTORY: scratch.path, SANDYARD_LOG_LEVEL: 'silent' } },
  )
  const exited = once(daemon, 'exit')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets: Socket[] = []
  try {
    await pollUntil({ what: 'the daemon', timeoutMs: 20_000, everyMs: 20 }, () => health(port, agent))
    // Loads the services and reads the accounts, but fails before it loads the library for starts.
    await post(port, agent, 'process.Process/Start', { process: { cmd: '\0' } })
    for (let index = 0; index < 2 * OPEN_FILES; index += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
    }
    // A connection is open for its client before the daemon has accepted it.
    const hasNone = async (): Promise<true | undefined> =>
      (await readdir(`/proc/${daemon.pid}/fd`)).length >= OPEN_FILES ? true : undefined
    await pollUntil({ what: 'a daemon without descriptors', timeoutMs: 20_000, everyMs: 20 }, hasNone)
    const command = { process: { cmd: '/bin/echo', args: ['started'], cwd: '/' }, stdin: false }
    expect(await post(port, agent, 'process.Process/Start', command)).toContain('too many open files')
    for (const socket of sockets) socket.destroy()
    const output = await pollUntil({ what: 'a start', timeoutMs: 20_000, everyMs: 50 }, async () => {
      const answer = await post(port, agent, 'process.Process/Start', command)
      return answer.includes('exit status 0') ? answer : undefined
    })
    expect(output).toContain(Buffer.from('started\n').toString('base64'))
  } finally {
    for (const socket of sockets) socket.destroy()
    agent.destroy()
    daemon.kill('SIGKILL')
    await exited
  }
})

function health(port: number, agent: Agent): Promise<true | undefined> {
  return new Promise((resolve) => {
    const call = request({ port, host: '127.0.0.1', path: '/health', agent }, (response) => {
      response.resume().once('end', () => resolve(true))
    })
    call.once('error', () => resolve(undefined)).end()
  })
}

function post(port: number, agent: Agent, path: string, message: object): Promise<string> {
  const headers = { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' }
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path: `/${path}`, method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk)).once('end', () => resolve(text))
    })
    call.once('error', reject).end(envelope(message))
  })
}
