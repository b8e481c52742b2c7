import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { EMPTY_IMAGE, ensureEmptyImage } from '@sandyard/runtime-docker/engine/empty-image'
import { engineId } from '@sandyard/runtime-docker/engine/engine-id'
import { tagImage } from '@sandyard/runtime-docker/images/kept-images'
import { keptImage } from '@sandyard/runtime-docker/labels'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { openOrphans } from '../../src/program/open-orphans.ts'
import { ADMIN_TOKEN, createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'

// oxlint-disable-next-line node/no-process-env -- selects the engine under test
const ENGINE = process.env['DOCKER_HOST']
const TWO_DAYS_MS = 2 * 24 * 3_600_000
const stack = new AsyncDisposableStack()
const other = `test-${randomId(8)}`

let docker: Awaited<ReturnType<typeof connectEngine>>
let world: World
beforeAll(async () => {
  docker = await connectEngine(ENGINE)
  await ensureEmptyImage(docker)
  world = stack.use(await createWorld())
})
afterAll(() => stack.disposeAsync())

const startServer = (): Promise<Server> =>
  world.startServer({ host: { environment: {}, openOrphans: (signal) => openOrphans({ db: world.database.db, docker, signal }) } })

async function addImage(installation: string): Promise<string> {
  const name = keptImage(installation, new Date(Date.now() - TWO_DAYS_MS), randomId(16))
  await tagImage(docker, EMPTY_IMAGE, name)
  return name
}

async function exists(image: string): Promise<boolean> {
  return docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      () => false,
    )
}

it('refuses to look at another engine than that of the database', async () => {
  await using server = await startServer()
  const operator = await new Browser(server).logIn({ adminToken: ADMIN_TOKEN })
  const refused = await operator.call('GET', '/api/orphans')
  expect(refused, refused.text).toMatchObject({ status: 403, body: { message: expect.stringContaining('another Docker engine') } })
  await world.database.db.deleteFrom('server_setting').where('name', '=', 'engine_id').execute()
})

it('lists and removes what nothing of this installation uses, and nothing of another one', async () => {
  Object.assign(world.engine, { id: await engineId(docker, AbortSignal.timeout(30_000)) })
  const server = await startServer()
  const { id: own } = server.ctx.installation
  stack.defer(() => removeInstallations(docker, [own, other]))
  const operator = await new Browser(server).logIn({ adminToken: ADMIN_TOKEN })
  const [image, foreign] = [await addImage(own), await addImage(other)]
  const listed = await operator.call('GET', '/api/orphans')
  expect(listed, listed.text).toMatchObject({ status: 200, body: { data: [{ kind: 'image', id: image, isForeign: false }], isCut: false } })
  const collect = (dryRun: boolean) => operator.call('POST', '/api/orphans/collect', { body: { dryRun } })
  expect((await collect(true)).body).toMatchObject({ removed: [{ id: image }], failed: [] })
  expect(await exists(image)).toBe(true)
  const collected = await collect(false)
  expect(collected.body, collected.text).toMatchObject({ removed: [{ id: image }], failed: [] })
  expect([await exists(image), await exists(foreign)]).toEqual([false, true])
  expect((await operator.call('GET', '/api/orphans')).body).toEqual({ data: [], isCut: false })
})
