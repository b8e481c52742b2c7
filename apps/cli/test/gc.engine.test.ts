import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { engineId } from '@sandyard/runtime-docker/engine/engine-id'
import { SandboxNetwork } from '@sandyard/runtime-docker/network/sandbox-network'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { runHere } from './support/run-here.ts'

const run = randomId(8)
const [own, other] = [`test-${run}-a`, `test-${run}-b`]
const stack = new AsyncDisposableStack()
// oxlint-disable-next-line node/no-process-env -- selects the engine under test
const ENGINE = process.env['DOCKER_HOST']

let database: Database
let networks: Record<'own' | 'other', SandboxNetwork>
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  database = stack.use(new Database({ url, applicationName: 'test', log: silentLogger() }))
  const docker = await connectEngine(ENGINE)
  networks = { own: new SandboxNetwork(docker, own), other: new SandboxNetwork(docker, other) }
  for (const network of Object.values(networks)) {
    stack.defer(() => network.remove())
    await network.ensure()
  }
  await database.db
    .insertInto('server_setting')
    .values([
      { name: 'installation_id', value: own },
      { name: 'engine_id', value: await engineId(docker, AbortSignal.timeout(30_000)) },
    ])
    .execute()
})
afterAll(() => stack.disposeAsync())

const gc = (...options: string[]) =>
  runHere({ args: ['gc', ...options], env: { DATABASE_URL: database.url, ...(ENGINE && { DOCKER_HOST: ENGINE }) }, cwd: '/' })

it('lists with --dry-run, removes only after a yes, and only what is of this installation', async () => {
  const listed = await gc('--dry-run', '--json')
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(listed.stdout)).toMatchObject([{ kind: 'network', name: `sandyard-${own}` }])
  const refused = await gc()
  expect(refused.code).toBe(4)
  expect(refused.stdout).toMatch(new RegExp(`^KIND +NAME[^\n]+\nnetwork +sandyard-${own} .*no server and no sandbox`))
  expect(refused.stderr).toContain('Remove 1 objects? There is no terminal to ask: repeat it with --yes.')
  expect(await networks.own.find()).toBeDefined()
  expect((await gc('--yes')).stdout).toContain(`network sandyard-${own} removed\n`)
  expect([await networks.own.find(), (await networks.other.find()) !== undefined]).toEqual([undefined, true])
  expect(await gc('--yes')).toMatchObject({ code: 0, stdout: '', stderr: 'There is nothing to remove.\n' })
})

it('refuses when the database belongs to another engine', async () => {
  await database.db.updateTable('server_setting').set({ value: 'another' }).where('name', '=', 'engine_id').execute()
  const { code, stderr } = await gc('--dry-run')
  expect(code).toBe(4)
  expect(stderr).toContain('The database belongs to another Docker engine (another)')
})
