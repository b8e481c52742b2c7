import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

/** A page of the list is about 6 MiB, more than sockets keep. */
const SANDBOXES = 100
const METADATA = { text: 'x'.repeat(60_000) }

let world: World
let large: Caller
let small: Caller
let lists: string
beforeAll(async () => {
  world = await createWorld()
  const api = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '200' } })
  ;[large, small] = [await addCaller(world, api, 'Large'), await addCaller(world, api, 'Small')]
  for (let made = 0; made < SANDBOXES; made += 1) {
    const { status } = await large.withKey('POST', '/v2/sandboxes', { templateID: 'base', timeout: 3600, metadata: METADATA })
    expect(status).toBe(201)
  }
  lists = `GET /v2/sandboxes?limit=${SANDBOXES} HTTP/1.1\r\nhost: api\r\nx-api-key: ${large.apiKey}\r\n\r\n`
})
afterAll(() => world[Symbol.asyncDispose]())

/** Asks for the list and reads no more than the first bytes of the answer. */
async function startReading(port: number): Promise<{ readonly socket: Socket; readonly status: number }> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(lists)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { socket, status: Number(first.toString('latin1', 9, 12)) }
}

const portOf = async ({ app }: Server): Promise<number> => Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
const connectionsOf = ({ app }: Server) => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))

describe('answers that nobody reads', () => {
  it('are bounded for each team, and freed when their connections close', async () => {
    const api = await world.startServer()
    const port = await portOf(api)
    const open: Socket[] = []
    const ask = async (): Promise<number> => {
      const { socket, status } = await startReading(port)
      open.push(socket)
      return status
    }
    try {
      const statuses: number[] = []
      while (statuses.at(-1) !== 429 && statuses.length < 16) statuses.push(await ask())
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(8)
      expect(statuses.at(-1)).toBe(429)
      const other = { headers: { 'x-api-key': small.apiKey } }
      expect((await fetch(`http://127.0.0.1:${port}/v2/sandboxes`, other)).status, 'another team').toBe(200)
    } finally {
      for (const socket of open) socket.destroy()
    }
    await waitFor('the release', async () => {
      const { socket, status } = await startReading(port)
      socket.destroy()
      return status === 200
    })
  })

  it('are given up when nothing of them is taken for a while', async () => {
    const api = await world.startServer({ app: { stalledAnswerMs: 200 } })
    const { socket } = await startReading(await portOf(api))
    expect(await connectionsOf(api)).toBe(1)
    await waitFor('the end of the connection', async () => (await connectionsOf(api)) === 0)
    socket.destroy()
  })

  it('do not end the next request of their connection, however long that one takes', async () => {
    const api = await world.startServer({ app: { stalledAnswerMs: 200 } })
    const port = await portOf(api)
    const stalled = await startReading(port)
    const socket = connect(port, '127.0.0.1')
    const answers = text(socket)
    await world.database.transaction(async (tx) => {
      await tx.selectFrom('team').select('id').where('id', '=', small.teamId).forUpdate().execute()
      const head = `host: api\r\nx-api-key: ${small.apiKey}\r\n`
      const create = JSON.stringify({ templateID: 'base' })
      const type = `content-type: application/json\r\ncontent-length: ${create.length}\r\nconnection: close\r\n\r\n`
      socket.write(`GET /v2/sandboxes HTTP/1.1\r\n${head}\r\nPOST /v2/sandboxes HTTP/1.1\r\n${head}${type}${create}`)
      // Twice the time has passed then.
      await waitFor('the end of the first stalled connection', async () => (await connectionsOf(api)) === 1)
      const again = await startReading(port)
      await waitFor('the end of the second one', async () => (await connectionsOf(api)) === 1)
      again.socket.destroy()
    })
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201'])
    stalled.socket.destroy()
  })
})
