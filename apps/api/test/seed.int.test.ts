import { seedBaseTemplate } from '@sandyard/api/seed/seed-base-template'
import { issueFurtherCredentials, seedIdentity } from '@sandyard/api/seed/seed-identity'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
})
afterAll(() => world[Symbol.asyncDispose]())

const base = () => ({ teamId: world.teamId, userId: world.userId, image: 'base:1', cpuCount: 2, memoryMib: 1024, diskMib: 4096 })

describe('seeding', () => {
  it('returns the raw credentials to only one of several concurrent callers', async () => {
    const seed = { teamName: 'Many', email: 'many@acme.test' }
    const seeded = await Promise.all([1, 2, 3].map(() => seedIdentity(world.database, seed)))
    expect(seeded.filter(({ credentials }) => credentials !== undefined)).toHaveLength(1)
    expect(new Set(seeded.map(({ teamId }) => teamId)).size).toBe(1)
  })

  it('creates further credentials for a server that lost the raw ones, and the former ones stay valid', async () => {
    const { credentials, ...identity } = await seedIdentity(world.database, { teamName: 'Losers', email: 'loser@acme.test' })
    const fresh = await issueFurtherCredentials(world.database, identity)
    expect((await api.call('GET', '/v2/sandboxes', { apiKey: fresh.apiKey })).status).toBe(200)
    expect((await api.call('GET', '/v2/sandboxes', { apiKey: credentials?.apiKey ?? '' })).status).toBe(200)
  })

  it('registers the base template once, and adds a build for a changed image', async () => {
    const same = await Promise.all([1, 2].map(() => seedBaseTemplate(world.database, base())))
    for (const one of same) expect(one).toEqual({ templateId: world.templateId, buildId: world.buildId })
    const changed = await seedBaseTemplate(world.database, { ...base(), image: 'base:2' })
    expect(changed.templateId).toBe(world.templateId)
    expect(changed.buildId).not.toBe(world.buildId)
    const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    const started = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === body.sandboxID)
    expect(started?.spec.image).toBe('base:2')
  })
})
