import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Code, ConnectError } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser, ORIGIN } from '../support/dashboard-browser.ts'

/** More than one segment, so that the handler begins before or after the last byte. */
const CONTENT = 'a line of the file\n'.repeat(10_000)

let world: World
let api: Server
let browser: Browser
let sandboxId: string
const files = new Map<string, string>([['/home/user/', '']])

/** The calls of a daemon that a save, a new folder and a move need. */
const daemon = createServer(
  connectNodeAdapter({
    routes: (router) =>
      router.service(Filesystem, {
        stat: ({ path }) => ({ entry: entryOf(path) }),
        makeDir: ({ path }) => {
          files.set(`${path}/`, '')
          return { entry: entryOf(path) }
        },
        move: ({ source, destination }) => {
          files.set(destination, files.get(source) ?? '')
          files.delete(source)
          return { entry: entryOf(destination) }
        },
      }),
    fallback: (call, response) => {
      const path = new URL(call.url ?? '', 'http://daemon').searchParams.get('path') ?? ''
      void textOf(call as unknown as IncomingMessage).then((text) => {
        files.set(path, text)
        response.setHeader('content-type', 'application/json')
        response.end('[]')
      })
    },
  }),
)

function entryOf(path: string) {
  const content = files.get(path) ?? files.get(`${path}/`)
  if (content === undefined) throw new ConnectError('no such file', Code.NotFound)
  return { name: path.slice(path.lastIndexOf('/') + 1), path, size: BigInt(content.length), owner: 'user', group: 'user' }
}

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve))
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
  sandboxId = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
  await world.database.db
    .updateTable('sandbox')
    .set({ endpoint_daemon_port: portOf(daemon) })
    .where('sandbox_id', '=', sandboxId)
    .execute()
})
afterAll(async () => {
  daemon.closeAllConnections()
  daemon.close()
  await world[Symbol.asyncDispose]()
})

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port
}

async function textOf(stream: IncomingMessage): Promise<string> {
  return Buffer.concat(await (stream.toArray() as Promise<Buffer[]>)).toString()
}

/** Over a socket: requests that are injected never close their body. */
async function send(method: string, path: string, type: string, body: string): Promise<{ status: number | undefined; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = {
    host: new URL(ORIGIN).host,
    origin: ORIGIN,
    cookie: browser.cookie,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  }
  const url = `/dashboard/api/sandboxes/${sandboxId}/files/${path}`
  request({ host: '127.0.0.1', port: portOf(api.app.server), method, path: url, headers }, resolve)
    .once('error', reject)
    .end(body)
  const answer = await promise
  return { status: answer.statusCode, text: await textOf(answer) }
}

it('saves a file whose body has been read before the daemon is asked', async () => {
  const saved = await send('PUT', 'content?path=/home/user/a.txt', 'application/octet-stream', CONTENT)
  expect(saved.status, saved.text).toBe(200)
  expect(JSON.parse(saved.text)).toMatchObject({ path: '/home/user/a.txt', bytes: CONTENT.length })
  expect(files.get('/home/user/a.txt')).toBe(CONTENT)
})

it('makes folders and moves files, whose requests have a body too', async () => {
  const folder = await send('POST', 'folder', 'application/json', JSON.stringify({ path: '/home/user/new' }))
  expect(folder, folder.text).toMatchObject({ status: 200 })
  const moved = await send('POST', 'move', 'application/json', JSON.stringify({ from: '/home/user/a.txt', to: '/home/user/new/a.txt' }))
  expect(moved, moved.text).toMatchObject({ status: 200 })
  expect(files.get('/home/user/new/a.txt')).toBe(CONTENT)
})
