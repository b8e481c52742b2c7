import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Selectable } from 'kysely'
import type { SandboxTable } from '@sandyard/db/schema/sandbox'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { DEFAULT_EGRESS, type RuntimeCapabilities } from '@sandyard/runtime/types'
import { readWantedEgress } from '../src/sandboxes/network/read-wanted-egress.ts'
import { toEgressPolicy } from '../src/sandboxes/network/to-egress-policy.ts'
import { createWorld, reconcileNow, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { crashPoints, crashServer, repairAbandoned } from './support/crash-server.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
})
afterEach(() => world[Symbol.asyncDispose]())

const createId = async (body: object = {}): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })).body.sandboxID
const put = (id: string, body: object, server: Server = api): Promise<Answer> => server.call('PUT', `/sandboxes/${id}/network`, { body })
const ask = (id: string, action: string, body: object = {}): Promise<Answer> => api.call('POST', `/sandboxes/${id}/${action}`, { body })
const rowOf = (id: string): Promise<Selectable<SandboxTable> | undefined> =>
  world.database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', id).executeTakeFirst()
const inForce = (id: string) => [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)?.egress
const deny = (address: string) => ({ denyOut: [address] })
const denying = (address: string) => ({ ...DEFAULT_EGRESS, denyOut: [address] })

/** The runtime has the stored network in force, and the row says so. */
async function expectAgreement(id: string): Promise<void> {
  const row = await rowOf(id)
  if (row === undefined) throw new Error(`${id} is gone`)
  expect(inForce(id)).toEqual(toEgressPolicy(row.network, row.allow_internet_access))
  expect(row).toMatchObject({ egress_applied: row.egress_version, egress_claimed_until: null })
}

describe('an update that the runtime fails', () => {
  it.each(['failBefore', 'failAfter'] as const)('%s is stored, may be sent again, and is repaired', async (fail) => {
    const id = await createId()
    api.runtime.faults[fail]('setEgress')
    const answer = await put(id, deny('1.1.1.1'))
    expect(answer.body).toEqual({ code: 500, message: 'Error applying network config to sandbox' })
    expect(answer.headers).toMatchObject({ 'should-retry': 'true' })
    expect((await api.call('GET', `/sandboxes/${id}`)).body.network.denyOut).toEqual(['1.1.1.1'])
    expect((await put(id, deny('1.1.1.1'))).status).toBe(204)
    await expectAgreement(id)
    api.runtime.faults[fail]('setEgress')
    expect((await put(id, deny('2.2.2.2'))).status).toBe(500)
    await reconcileNow(api)
    await expectAgreement(id)
    expect(inForce(id)).toEqual(denying('2.2.2.2'))
  })

  it('of a paused sandbox is repaired too', async () => {
    const id = await createId()
    await ask(id, 'pause')
    api.runtime.faults.failBefore('setEgress')
    expect((await put(id, deny('1.1.1.1'))).status).toBe(500)
    await reconcileNow(api)
    await expectAgreement(id)
  })

  it('is in force after an engine that was away comes back', async () => {
    const id = await createId()
    await ask(id, 'pause', { memory: false })
    world.engine.stop()
    expect((await put(id, deny('1.1.1.1'))).status).toBe(500)
    world.engine.start()
    await reconcileNow(api)
    await expectAgreement(id)
  })
})

describe('a server that is killed during an update', () => {
  // The row, the runtime.
  it.each(crashPoints(2))('$when step $step leaves the old network or the new one, in force after the repair', async (point) => {
    const id = await createId({ network: deny('9.9.9.9') })
    await crashServer(world, point, (dying) => put(id, deny('1.1.1.1'), dying))
    await repairAbandoned(world, api)
    await expectAgreement(id)
    const isStored = point.step > 1 || point.when === 'after'
    expect((await rowOf(id))?.network.denyOut).toEqual([isStored ? '1.1.1.1' : '9.9.9.9'])
    expect((await put(id, deny('2.2.2.2'))).status).toBe(204)
    await expectAgreement(id)
  })
})

describe('updates at the same time', () => {
  it('of which the first is slow in the runtime: the last one stored is in force', async () => {
    const id = await createId()
    const hold = api.runtime.faults.hold('setEgress')
    const first = put(id, deny('1.1.1.1'))
    await hold.reached
    const second = put(id, deny('2.2.2.2'))
    await waitFor('the second update to be stored', async () => (await rowOf(id))?.egress_version === 2)
    // The second update waits until the first call of `setEgress` has returned.
    expect(api.runtime.faults.calls.filter((call) => call === 'setEgress')).toHaveLength(1)
    hold.release()
    expect([await first, await second]).toMatchObject([{ status: 204 }, { status: 204 }])
    await expectAgreement(id)
    expect(inForce(id)).toEqual(denying('2.2.2.2'))
  })

  it('of which the first fails: the second is put in force by its own request', async () => {
    const id = await createId()
    api.runtime.faults.failAfter('setEgress')
    const hold = api.runtime.faults.hold('setEgress')
    const first = put(id, deny('1.1.1.1'))
    await hold.reached
    const second = put(id, deny('2.2.2.2'))
    await waitFor('the second update to be stored', async () => (await rowOf(id))?.egress_version === 2)
    hold.release()
    expect((await second).status).toBe(204)
    // It may have been told by the second one.
    expect((await first).status).toBeOneOf([204, 500])
    await expectAgreement(id)
  })

  it('20 through two servers: the last one stored is in force', async () => {
    const id = await createId()
    const other = await world.startServer({ loops: true })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => put(id, deny(`1.1.1.${at}`), at % 2 === 0 ? api : other)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
    expect((await rowOf(id))?.egress_version).toBe(20)
    await expectAgreement(id)
  })

  it('as a kill: nothing is left, and the update is answered', async () => {
    const id = await createId()
    const hold = api.runtime.faults.hold('setEgress')
    const update = put(id, deny('1.1.1.1'))
    await hold.reached
    expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    await waitFor('the end', async () => (await rowOf(id)) === undefined)
    hold.release()
    expect((await update).status).toBe(204)
    expect(inForce(id)).toBeUndefined()
  })

  it.each(['pause', 'snapshots', 'fork'])('as a %s: both succeed, and the update is in force', async (action) => {
    const id = await createId()
    const hold = api.runtime.faults.hold(action === 'pause' ? 'pause' : 'snapshot')
    const transition = ask(id, action, action === 'fork' ? { timeout: 60 } : {})
    await hold.reached
    const update = put(id, deny('1.1.1.1'))
    hold.release()
    expect((await transition).status).toBeOneOf([201, 204])
    expect((await update).status).toBe(204)
    await expectAgreement(id)
    if (action === 'pause') expect((await ask(id, 'connect', { timeout: 60 })).status).toBe(201)
    await expectAgreement(id)
  })
})

describe('the wanted egress of sandboxes', () => {
  it('is that of the rows, the default for builds in progress, and absent otherwise', async () => {
    const running = await createId({ network: deny('1.1.1.1') })
    const paused = await createId({ allow_internet_access: false })
    await ask(paused, 'pause')
    const job = { build_id: world.buildId, team_id: world.teamId, plan: '{}', sandbox_id: 'bone' }
    await world.database.db
      .insertInto('build_job')
      .values({ ...job, server_id: 1, lease_until: new Date() })
      .execute()
    const asked = [running, paused, 'bone', 'btwo', 'ithree']
    const wanted = await readWantedEgress(world.database.db, asked)
    expect(Object.fromEntries(wanted)).toEqual({
      [running]: denying('1.1.1.1'),
      [paused]: { ...DEFAULT_EGRESS, allowInternet: false },
      bone: DEFAULT_EGRESS,
    })
    // Its server has given it back: another one will start anew, in another sandbox.
    await world.database.db.updateTable('build_job').set({ server_id: null, lease_until: null }).execute()
    expect([...(await readWantedEgress(world.database.db, ['bone'])).keys()]).toEqual([])
    expect(await readWantedEgress(world.database.db, [])).toEqual(new Map())
    expect((await readWantedEgress(world.database.db, Array.from({ length: 2500 }, (_, at) => `i${at}`).concat(running))).size).toBe(1)
  })
})

describe('the address of the egress gateway', () => {
  class MovingRuntime extends FakeRuntime {
    gateway: string | undefined = '172.30.0.1'
    override capabilities(): RuntimeCapabilities {
      return { ...super.capabilities(), egressGateway: this.gateway }
    }
  }
  const published = async (): Promise<string | undefined> =>
    (await world.database.db.selectFrom('server_setting').select('value').where('name', '=', 'egress_gateway_host').executeTakeFirst())
      ?.value

  it('is stored at the start of a server and when it changes, and removed when there is none', async () => {
    expect(await published()).toBeUndefined()
    await api[Symbol.asyncDispose]()
    const runtime = new MovingRuntime({ engine: world.engine })
    await world.startServer({ loops: true, runtime: () => runtime })
    expect(await published()).toBe('172.30.0.1')
    for (const gateway of ['172.31.0.1', undefined]) {
      runtime.gateway = gateway
      await waitFor(`the address ${gateway}`, async () => (await published()) === gateway)
    }
  })
})
