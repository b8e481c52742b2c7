import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox, SandboxNotFoundError } from 'e2b'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { containersWith, engine, removeAllWith } from './support/engine.ts'
import { startOwnServer, type Connection, type OwnServer } from './support/own-server.ts'
import { commandsWith } from './support/processes.ts'

/** The lease of a killed server and a pass of the reconciler together may take half a minute. */
const patience = { timeout: 90_000, interval: 100 }

/** Without sandboxes that wait for creates, every container has an owner. */
const NO_POOL = { SANDYARD_POOL_MEMORY: '0' }

/** The labels of the installations of these tests, to remove what failed tests leave on the engine. */
const installations = new Set<string>()

afterAll(async () => {
  for (const label of installations) await removeAllWith(label)
})

/** Each test has its own server and mostly waits, so they run concurrently. `expect.poll` does not support concurrent tests. */
describe.concurrent('a server that was killed', { timeout: 280_000 }, () => {
  test.each([
    ['the server alone', 'server'],
    ['the server and its database', 'everything'],
  ] as const)(
    '[GET /sandboxes/{sandboxID}] after a kill of %s, a sandbox past its end time is removed and the others continue',
    async (_, how) => {
      await withDataDir(async (dataDir) => {
        const before = await startOwnServer(dataDir)
        const { short, long, pid } = await outlive(before, how)
        await using after = await startOwnServer(dataDir)
        expect(after.connection.apiKey).toBe(before.connection.apiKey)
        await expectGone(short.sandboxId, after.connection)
        await expectGoesOn(long.sandboxId, pid, after.connection)
        await endCleanly(after, dataDir)
      })
    },
  )

  test('[POST /v2/sandboxes] a kill in the middle of a create leaves no orphaned container', async () => {
    await withDataDir(async (dataDir) => {
      await using before = await startOwnServer(dataDir, NO_POOL)
      const first = await create(before, 600_000)
      const label = await installationLabel(first.sandboxId)
      const known = await containersWith(label)
      const cut = Sandbox.create(before.connection).catch(() => undefined)
      await vi.waitUntil(async () => (await containersWith(label)).length > known.length, { ...patience, interval: 5 })
      await before.crash('everything')
      await cut

      await using after = await startOwnServer(dataDir, NO_POOL)
      await vi.waitFor(async () => expect(await ownerless(label, after.connection)).toEqual([]), patience)
      expect(await listedIds(after.connection)).toContain(first.sandboxId)
      await endCleanly(after, dataDir)
    })
  })
})

async function withDataDir(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = join(tmpdir(), `sandyard-restart-${randomUUID()}`)
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Creates a sandbox whose end time passes while no server runs, and a long one. */
async function outlive(server: OwnServer, how: 'server' | 'everything'): Promise<{ short: Sandbox; long: Sandbox; pid: number }> {
  await using running = server
  const long = await create(running, 600_000)
  await long.files.write('kept.txt', 'still here')
  const { pid } = await long.commands.run('exec sleep 600', { background: true, timeoutMs: 0 })
  const short = await create(running, 5000)
  const { endAt } = await short.getInfo()
  await running.crash(how)
  await vi.waitUntil(() => Date.now() > endAt.getTime(), patience)
  expect(await containersWith(`sandyard.sandbox-id=${short.sandboxId}`)).not.toEqual([])
  return { short, long, pid }
}

async function create(server: OwnServer, timeoutMs: number): Promise<Sandbox> {
  const sandbox = await Sandbox.create({ ...server.connection, timeoutMs })
  installations.add(await installationLabel(sandbox.sandboxId))
  return sandbox
}

async function expectGone(sandboxId: string, connection: Connection): Promise<void> {
  await vi.waitFor(async () => expect(await containersWith(`sandyard.sandbox-id=${sandboxId}`)).toEqual([]), patience)
  await expect(Sandbox.getInfo(sandboxId, connection)).rejects.toThrow(SandboxNotFoundError)
  expect(await listedIds(connection)).not.toContain(sandboxId)
}

async function expectGoesOn(sandboxId: string, pid: number, connection: Connection): Promise<void> {
  const sandbox = await Sandbox.connect(sandboxId, connection)
  expect(await sandbox.commands.run('cat kept.txt')).toMatchObject({ stdout: 'still here', exitCode: 0 })
  expect((await sandbox.commands.list()).map((process) => process.pid)).toContain(pid)
}

/** Kills all sandboxes, stops the server, and checks that nothing is left. */
async function endCleanly(server: OwnServer, dataDir: string): Promise<void> {
  const ids = await listedIds(server.connection)
  const label = await installationLabel(ids[0] ?? '')
  for (const id of ids) expect(await Sandbox.kill(id, server.connection)).toBe(true)
  expect(await server.stop()).toBe(0)
  // The engine removes the container of the guard by itself, just after its end.
  await vi.waitUntil(async () => (await containersWith(label)).length === 0, { timeout: 10_000 })
  expect(await engine('network', 'ls', '--quiet', '--filter', `label=${label}`)).toEqual([])
  expect(commandsWith(dataDir)).toEqual([])
  for (const url of [server.connection.apiUrl, server.connection.sandboxUrl]) expect(await isListening(url), url).toBe(false)
}

async function listedIds(connection: Connection): Promise<string[]> {
  return (await Sandbox.list(connection).nextItems()).map(({ sandboxId }) => sandboxId)
}

/** The label of everything that one installation creates. */
async function installationLabel(sandboxId: string): Promise<string> {
  const format = '{{index .Config.Labels "sandyard.installation"}}'
  const [container = ''] = await containersWith(`sandyard.sandbox-id=${sandboxId}`)
  const [installation = ''] = await engine('inspect', '--format', format, container)
  expect(installation).not.toBe('')
  return `sandyard.installation=${installation}`
}

/** The sandboxes that are on the engine but not in the server's list. */
async function ownerless(label: string, connection: Connection): Promise<string[]> {
  const format = '{{.Label "sandyard.sandbox-id"}}'
  const ids = await engine('ps', '--all', '--filter', `label=${label}`, '--filter', 'label=sandyard.sandbox-id', '--format', format)
  const listed = await listedIds(connection)
  return ids.filter((id) => !listed.includes(id))
}

async function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return once(socket, 'connect').then(
    () => {
      socket.destroy()
      return true
    },
    () => false,
  )
}
