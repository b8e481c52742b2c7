import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
/** Documented in docs/limits.md. */
const MAX_WAITING = 100

let world: World
let app: Awaited<ReturnType<World['startServer']>>['app']
let port: number
beforeAll(async () => {
  world = await createWorld()
  ;({ app } = await world.startServer({ env: { SANDYARD_MAX_EVENT_LOOP_DELAY: '1h' } }))
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(async () => {
  await app.close()
  await world[Symbol.asyncDispose]()
})

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${world.credentials.apiKey}\r\n\r\n`

async function open(): Promise<{ socket: Socket; answers: () => string[] }> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk))
  return { socket, answers: () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status) }
}

it('answers pipelined requests in order', async () => {
  const { socket, answers } = await open()
  socket.write([get('/health'), get('/sandboxes/i0'), get('/v2/sandboxes'), get('/nope'), get('/health')].join(''))
  await waitFor('the answers', async () => answers().length === 5)
  expect(answers()).toEqual(['200', '404', '200', '404', '200'])
  // The connection stays usable.
  socket.write(get('/health').repeat(MAX_WAITING))
  await waitFor('more answers', async () => answers().length === 5 + MAX_WAITING)
  socket.write(
    `POST /v2/sandboxes HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${world.credentials.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}${get('/health')}`,
  )
  await waitFor('the last answers', async () => answers().length === 7 + MAX_WAITING)
  expect(answers().slice(-2)).toEqual(['400', '200'])
  socket.destroy()
})

it('starts a request after the answer to the earlier request of its connection', async () => {
  const { socket, answers } = await open()
  const body = JSON.stringify({ name: 'made-in-turn' })
  const head = `POST /v3/templates HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${world.credentials.apiKey}\r\nContent-Type: application/json`
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}${get('/templates/aliases/made-in-turn')}`)
  await waitFor('the answers', async () => answers().length === 2)
  expect(answers()).toEqual(['202', '200'])
  socket.destroy()
})

it('makes no stack traces for the requests of a connection on which too many wait', async () => {
  const { stackTraceLimit } = Error
  const errors: Error[] = []
  const onRequest = (request: IncomingMessage): void => void request.once('error', (err) => errors.push(err))
  app.server.on('request', onRequest)
  const { socket } = await open()
  socket.write(get('/health').repeat(1000))
  await waitFor('the end of the waiting requests', () => errors.length > MAX_WAITING)
  app.server.off('request', onRequest)
  expect(errors.filter(({ stack }) => stack?.includes('\n')).length).toBe(0)
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  expect(new Error('made later').stack).toContain('\n')
  socket.destroy()
})

it('closes a connection on which too many requests wait before they use memory, and answers other connections', async () => {
  const closed = new Promise<void>((resolve) => {
    app.server.once('connection', (accepted: Socket) => accepted.once('close', () => resolve()))
  })
  const { socket, answers } = await open()
  socket.pause()
  const { heapUsed, external } = process.memoryUsage()
  socket.write(get('/openapi.json').repeat(1000))
  await closed
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  const now = process.memoryUsage()
  // The thousand answers are 190 MiB.
  expect((now.heapUsed + now.external - heapUsed - external) / MIB).toBeLessThan(80)
  expect(answers().length).toBeLessThan(1000)
  socket.destroy()
})
