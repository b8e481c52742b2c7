import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostileRequests } from './support/hostile-requests.ts'
import { envelope } from './support/raw-rpc.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { sendAll } from './support/send-hostile.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>

beforeAll(async () => {
  daemon = await startDaemon()
  scratch = await createScratchDirectory()
  // A request that loses its path works in this directory.
  await fetch(`${daemon.url}/init`, { method: 'POST', body: JSON.stringify({ defaultWorkdir: scratch.path }) })
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const descriptors = () => readdirSync('/proc/self/fd').length
const untilDescriptors = (limit: number) =>
  pollUntil({ what: 'descriptors to be closed', timeoutMs: 20_000, everyMs: 20 }, () => (descriptors() <= limit ? true : undefined))
const untilHealthy = async () => expect((await fetch(`${daemon.url}/health`)).status).toBe(204)

it('2,000 invalid requests get client errors and leave no descriptors and no processes', async () => {
  await untilHealthy()
  // The files of the kernel that are read again and again stay open after their first read.
  for (const path of ['/metrics', '/logs?boot=&after=0&metrics=true']) await (await fetch(daemon.url + path)).text()
  const before = descriptors()
  expect(await sendAll(daemon.url, hostileRequests(scratch.path, 2000), 32)).toEqual([])
  await untilDescriptors(before + 2)
  expect(daemon.context.processes.list()).toEqual([])
  await untilHealthy()
}, 60_000)

it('an idle connection costs one descriptor until its client disconnects', async () => {
  const before = descriptors()
  const idle = await open(2000, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await untilHealthy()
  for (const socket of idle) socket.destroy()
  await untilDescriptors(before + 2)
})

it('idle streams release their descriptors when their clients disconnect', async () => {
  const started = daemon.process.start({ process: { cmd: 'sleep', args: ['60'], cwd: '/' }, tag: 'idle' })[Symbol.asyncIterator]()
  await started.next()
  const before = descriptors()
  const body = envelope({ process: { tag: 'idle' } })
  const head =
    'POST /process.Process/Connect HTTP/1.1\r\nHost: x\r\nConnect-Protocol-Version: 1\r\n' +
    `Content-Type: application/connect+json\r\nContent-Length: ${body.length}\r\n\r\n`
  const streams = await open(500, Buffer.concat([Buffer.from(head), body]))
  await untilHealthy()
  for (const socket of streams) socket.destroy()
  await untilDescriptors(before + 2)
  await daemon.process.sendSignal({ process: { selector: { case: 'tag', value: 'idle' } }, signal: Signal.SIGKILL })
  for (let event = await started.next(); event.done !== true; event = await started.next()) void event
})

/** Connections that have each received the beginning of an answer. */
function open(count: number, request: string | Buffer): Promise<Socket[]> {
  const { hostname, port } = new URL(daemon.url)
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(request)
      await once(socket, 'data')
      return socket
    }),
  )
}
