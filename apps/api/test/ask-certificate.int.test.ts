import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_DOMAIN: 'sandboxes.example.com:8443', SANDYARD_API_URL: 'https://api.example.com' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = async (name: string): Promise<number> => (await api.call('GET', `/tls/ask?domain=${encodeURIComponent(name)}`)).status
const create = async (body: object): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 300, ...body } })).body.sandboxID

describe('certificates on demand', () => {
  it('are for the names of the servers and of no others', async () => {
    for (const name of ['api.example.com', 'API.example.com', 'sandbox.sandboxes.example.com']) expect(await ask(name)).toBe(200)
    for (const name of [
      'example.com',
      'evil.example.com',
      'sandboxes.example.com',
      '3000-x.sandboxes.example.com.evil.com',
      'x'.repeat(240),
    ])
      expect(await ask(name)).toBe(404)
    expect(await ask('x'.repeat(300))).toBe(400)
  })

  it('are for sandboxes that run or that traffic resumes', async () => {
    const id = await create({})
    expect(await ask(`3000-${id}.sandboxes.example.com`)).toBe(200)
    for (const label of [`0-${id}`, `65536-${id}`, `3000-${id}x`, id, `3000-3000-${id}`, `a.3000-${id}`])
      expect(await ask(`${label}.sandboxes.example.com`)).toBe(404)
    await api.call('POST', `/sandboxes/${id}/pause`)
    expect(await ask(`3000-${id}.sandboxes.example.com`)).toBe(404)
    await api.call('DELETE', `/sandboxes/${id}`)
    expect(await ask(`3000-${id}.sandboxes.example.com`)).toBe(404)
    const waking = await create({ autoPause: true, autoResume: { enabled: true } })
    await api.call('POST', `/sandboxes/${waking}/pause`)
    expect(await ask(`3000-${waking}.sandboxes.example.com`)).toBe(200)
  })

  it('are for 8 new names of a sandbox and so many of all in an hour, and again for those that were approved', async () => {
    const limited = await world.startServer({
      env: { SANDYARD_DOMAIN: 'sandboxes.example.com', SANDYARD_TLS_NAMES_PER_HOUR: '10' },
    })
    const statuses = async (names: readonly string[]): Promise<number[]> => {
      const answers: number[] = []
      for (const name of names) answers.push((await limited.call('GET', `/tls/ask?domain=${name}.sandboxes.example.com`)).status)
      return answers
    }
    const [one, two] = [await create({}), await create({})]
    const ports = Array.from({ length: 9 }, (_, at) => `${3000 + at}-${one}`)
    expect(await statuses(ports)).toEqual([...ports.slice(1).map(() => 200), 429])
    // A name without a sandbox counts for nothing.
    expect(await statuses(['3000-inone', `3000-${two}`, `3001-${two}`, `3002-${two}`])).toEqual([404, 200, 200, 429])
    expect(await statuses([`3000-${one}`, `3000-${two}`, 'sandbox'])).toEqual([200, 200, 200])
  })
})
