import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { Secret } from '@sandyard/kit/config/secret'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { afterEach, expect, it } from 'vitest'
import { initDaemon, type DaemonTarget } from '../src/daemon/init-daemon.ts'

const INIT = {
  identity: { sandboxID: 'i1', templateID: 't1', buildID: 'b1', tunnelSecretHash: '' },
  envVars: { A: 'b' },
  defaultUser: 'user',
  defaultWorkdir: '/home/user',
}
const TIMEOUT_MS = 30_000
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(port: number, answer: RequestListener): Promise<Server> {
  const server = createServer(answer).listen(port, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return server
}

async function newTarget(): Promise<DaemonTarget> {
  return { endpoint: { host: '127.0.0.1', daemonPort: await findFreePort() }, instanceKey: new Secret('the key') }
}

it('[daemon POST /init] is sent to a daemon that begins to listen later, once and on a connection that is closed', async () => {
  const target = await newTarget()
  const sent = initDaemon(target, INIT, AbortSignal.timeout(TIMEOUT_MS))
  const bodies: unknown[] = []
  const server = await listen(target.endpoint.daemonPort, (request, response) => {
    request.setEncoding('utf8').once('data', (body: string) => {
      bodies.push({ path: request.url, key: request.headers['x-sandyard-instance-key'], ...JSON.parse(body) })
      response.writeHead(204).end()
    })
  })
  await sent
  expect(bodies).toEqual([{ path: '/init', key: 'the key', timestamp: expect.any(String), ...INIT }])
  // Returns only when no connection is open.
  server.close()
  await once(server, 'close')
})

it('[daemon POST /init] is repeated after a lost connection and after a 503', async () => {
  const target = await newTarget()
  const answers = ['lost', 503, 204]
  await listen(target.endpoint.daemonPort, (request, response) => {
    const answer = answers.shift()
    if (typeof answer === 'number') response.writeHead(answer).end()
    else request.socket.destroy()
  })
  await initDaemon(target, INIT, AbortSignal.timeout(TIMEOUT_MS))
  expect(answers).toEqual([])
})

it('[daemon POST /init] ends with the abort reason while no daemon listens', async () => {
  const ending = new AbortController()
  const sent = initDaemon(await newTarget(), INIT, ending.signal)
  const reason = new Error('the sandbox has ended')
  ending.abort(reason)
  await expect(sent).rejects.toBe(reason)
})
