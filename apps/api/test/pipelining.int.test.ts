import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
/** Far more than the server reads ahead (docs/limits.md). */
const MANY = 1000

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

/** A connection, and the server's end of it. */
async function open(): Promise<{ socket: Socket; accepted: Socket; answers: () => string[] }> {
  const accepting = once(app.server, 'connection') as Promise<[Socket]>
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk))
  const [accepted] = await accepting
  return { socket, accepted, answers: () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status) }
}

it('answers pipelined requests in order', async () => {
  const { socket, answers } = await open()
  socket.write([get('/health'), get('/sandboxes/i0'), get('/v2/sandboxes'), get('/nope'), get('/health')].join(''))
  await waitFor('the answers', async () => answers().length === 5)
  expect(answers()).toEqual(['200', '404', '200', '404', '200'])
  socket.write(get('/health').repeat(MANY))
  await waitFor('more answers', async () => answers().length === 5 + MANY)
  socket.write(
    `POST /v2/sandboxes HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${world.credentials.apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}${get('/health')}`,
  )
  await waitFor('the last answers', async () => answers().length === 7 + MANY)
  expect(answers().slice(-2)).toEqual(['400', '200'])
  socket.destroy()
})

it('begins a request when the one before it on its connection has been answered', async () => {
  const { socket, answers } = await open()
  const body = JSON.stringify({ name: 'made-in-turn' })
  const head = `POST /v3/templates HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${world.credentials.apiKey}\r\nContent-Type: application/json`
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}${get('/templates/aliases/made-in-turn')}`)
  await waitFor('the answers', async () => answers().length === 2)
  expect(answers()).toEqual(['202', '200'])
  socket.destroy()
})

it('answers malformed bytes after the requests before them', async () => {
  const { socket, answers } = await open()
  socket.write(`${get('/v2/sandboxes')}${get('/health')}nonsense\r\n\r\n`)
  await once(socket, 'end')
  expect(answers()).toEqual(['200', '200', '400'])
})

it('stops reading from a connection on which many requests wait, before they cost memory, and answers others', async () => {
  const { socket, accepted, answers } = await open()
  socket.pause()
  const { heapUsed, external } = process.memoryUsage()
  socket.write(get('/openapi.json').repeat(MANY))
  await waitFor('a connection that is not read', async () => accepted.isPaused() && accepted.writableNeedDrain)
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  const now = process.memoryUsage()
  // All answers are 190 MiB.
  expect((now.heapUsed + now.external - heapUsed - external) / MIB).toBeLessThan(80)
  socket.resume()
  await waitFor('answers to the client that reads again', async () => answers().length >= 50)
  expect(answers().every((status) => status === '200')).toBe(true)
  socket.destroy()
})
