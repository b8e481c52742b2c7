import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('[POST /v2/sandboxes] [GET /sandboxes/{sandboxID}] [DELETE /sandboxes/{sandboxID}] a sandbox', () => {
  it('is created, read, extended and killed', async () => {
    const created = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', metadata: { a: 'b' }, envVars: { X: '1' } } })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      templateID: world.templateId,
      sandboxID: expect.stringMatching(/^i[a-z0-9]{20}$/),
      clientID: '6532622b',
      envdVersion: '0.6.13',
      alias: 'base',
      envdAccessToken: expect.stringMatching(/^[0-9a-f]{64}$/),
      domain: 'localhost:3002',
    })
    const { sandboxID, envdAccessToken } = created.body
    expect(world.daemon.inits.at(-1)).toMatchObject({
      accessToken: envdAccessToken,
      envVars: { X: '1' },
      defaultUser: 'user',
      defaultWorkdir: '/home/user',
    })

    const got = await api.call('GET', `/sandboxes/${sandboxID}`)
    expect(got.status).toBe(200)
    expect(got.body).toEqual({
      templateID: world.templateId,
      alias: 'base',
      sandboxID,
      clientID: '6532622b',
      startedAt: expect.stringMatching(/Z$/),
      endAt: expect.stringMatching(/Z$/),
      cpuCount: 2,
      memoryMB: 1024,
      diskSizeMB: 4096,
      metadata: { a: 'b' },
      state: 'running',
      envdVersion: '0.6.13',
      volumeMounts: [],
      envdAccessToken,
      allowInternetAccess: null,
      domain: null,
      network: { allowPublicTraffic: true, allowOut: [], denyOut: [] },
      lifecycle: { autoResume: false, onTimeout: 'kill' },
    })
    expect(Date.parse(got.body.endAt) - Date.parse(got.body.startedAt)).toBe(300_000)

    expect((await api.call('DELETE', `/sandboxes/${sandboxID}`)).status).toBe(204)
    const gone = await api.call('GET', `/sandboxes/${sandboxID}`)
    expect(gone.status).toBe(404)
    expect(gone.body).toEqual({ code: 404, message: `Sandbox "${sandboxID}" doesn't exist or you don't have access to it` })
    await waitFor('the removal', () => world.engine.sandboxes.size === 0)
  })
})
