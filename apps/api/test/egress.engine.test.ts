import { afterAll, beforeAll, expect, it } from 'vitest'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { randomId } from '@sandyard/kit/ids/ids'
import { EngineBench } from '../../../packages/runtime-docker/test/support/engine-bench.ts'
import { OUTSIDE, OutsideWorld } from '../../../packages/runtime-docker/test/support/outside-world.ts'
import { ensureToolImage } from '../../../packages/runtime-docker/test/support/test-images.ts'
import { parseApiConfig } from '../src/config.ts'
import { runShell } from '../src/daemon/run-shell.ts'
import { openBenchApp, type BenchApp } from './support/bench-app.ts'
import { BuildBench } from './support/build-bench.ts'

const stack = new AsyncDisposableStack()
let bench: BuildBench
let api: BenchApp

beforeAll(async () => {
  const outside = stack.use(await EngineBench.open())
  // Makes the volume with the program of the machine outside.
  await outside.runtime({ installation: `test-${randomId(8)}` })
  stack.use(await OutsideWorld.open({ docker: outside.docker, toolImage: await ensureToolImage(outside.docker), volume: outside.volume }))
  // No gateway runs: nothing here connects through it.
  bench = stack.use(await BuildBench.open({ egressGateway: { tcpPort: 18_443, dnsPort: 18_053 } }))
  await bench.seedBase()
  api = await openBenchApp(stack, bench, parseApiConfig({}))
})
afterAll(() => stack.disposeAsync())

const call: BenchApp['call'] = (...args) => api.call(...args)
const create: BenchApp['create'] = (body) => api.create(body)
const put = async (id: string, body: object): Promise<void> =>
  expect(await call('PUT', `/sandboxes/${id}/network`, body)).toMatchObject({ status: 204 })

/** The exit code and the output of a command of root. */
async function run(id: string, command: string): Promise<{ exitCode: number; output: string }> {
  const { endpoint_host: host, endpoint_daemon_port: daemonPort } = await bench.database.db
    .selectFrom('sandbox')
    .select(['endpoint_host', 'endpoint_daemon_port'])
    .where('sandbox_id', '=', id)
    .executeTakeFirstOrThrow()
  if (host === null || daemonPort === null) throw new Error(`${id} does not run`)
  const daemon = { endpoint: { host, daemonPort }, accessToken: sandboxAccessToken(api.ctx.installation.tokenSeed, id) }
  const lines: string[] = []
  const options = { onLine: (_: string, line: string) => void lines.push(line), signal: AbortSignal.timeout(60_000) }
  const { exitCode } = await runShell(daemon, { command, user: 'root', cwd: '/' }, options)
  return { exitCode, output: lines.join('\n') }
}

/** Whether the sandbox can connect to the machine outside. */
async function reaches(id: string): Promise<boolean> {
  return (await run(id, `timeout 5 bash -c 'exec 3<>/dev/tcp/${OUTSIDE.public}/${OUTSIDE.port}'`)).exitCode === 0
}

it('[PUT /sandboxes/{sandboxID}/network] is in force when it is answered, and each policy replaces the former', async () => {
  const id = await create()
  expect(await reaches(id)).toBe(true)
  for (const [body, isOpen] of [
    [{ denyOut: ['198.51.100.0/24'] }, false],
    [{ denyOut: ['198.51.100.0/24'], allowOut: [OUTSIDE.public] }, true],
    [{ allow_internet_access: false }, false],
    [{}, true],
    [{ denyOut: ['0.0.0.0/0', '2001:db8::/32'] }, false],
    [{ denyOut: ['203.0.113.0/24', '::/0'] }, true],
  ] as const) {
    await put(id, body)
    expect([body, await reaches(id)]).toEqual([body, isOpen])
  }
})

it('[POST /v2/sandboxes] a sandbox without internet access stays closed over pauses and forks, and one of its snapshots is open', async () => {
  const id = await create({ allow_internet_access: false })
  expect(await reaches(id)).toBe(false)
  for (const memory of [true, false]) {
    expect((await call('POST', `/sandboxes/${id}/pause`, { memory })).status).toBe(204)
    expect((await call('POST', `/sandboxes/${id}/connect`, { timeout: 600 })).status).toBe(201)
    expect(await reaches(id)).toBe(false)
  }
  const { body: forks } = await call('POST', `/sandboxes/${id}/fork`, { timeout: 600 })
  const { sandbox } = (forks as unknown as { sandbox: { sandboxID: string } }[])[0] ?? {}
  expect(await reaches(sandbox?.sandboxID ?? '')).toBe(false)
  const { body: snapshot } = await call('POST', `/sandboxes/${id}/snapshots`)
  expect(await reaches(await create({ templateID: snapshot['snapshotID'] }))).toBe(true)
})

it.each([true, false])(
  '[PUT /sandboxes/{sandboxID}/network] of a sandbox that is paused (memory: %s) is in force when it runs',
  async (memory) => {
    const id = await create()
    expect((await call('POST', `/sandboxes/${id}/pause`, { memory })).status).toBe(204)
    await put(id, { denyOut: [OUTSIDE.public] })
    expect((await call('POST', `/sandboxes/${id}/connect`, { timeout: 600 })).status).toBe(201)
    expect(await reaches(id)).toBe(false)
    expect((await call('POST', `/sandboxes/${id}/pause`, { memory })).status).toBe(204)
    await put(id, {})
    expect((await call('POST', `/sandboxes/${id}/connect`, { timeout: 600 })).status).toBe(201)
    expect(await reaches(id)).toBe(true)
  },
)

it('[PUT /sandboxes/{sandboxID}/network] with rules adds the authority of the sandbox to its trust store, and is refused where there is none', async () => {
  const rules = { 'api.example.com': [{ transform: { headers: { a: 'b' } } }] }
  // The image has no certificates.
  const id = await create()
  const refused = await call('PUT', `/sandboxes/${id}/network`, { rules, denyOut: [OUTSIDE.public] })
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^network rules need the file /) } })
  expect(await reaches(id)).toBe(true)
  expect((await run(id, 'mkdir -p /etc/ssl/certs && echo others > /etc/ssl/certs/ca-certificates.crt')).exitCode).toBe(0)
  await put(id, { rules, denyOut: [OUTSIDE.public] })
  const { certificatePem } = sandboxAuthority(api.ctx.installation.tokenSeed, id)
  const bundle = `others\n${certificatePem.trimEnd()}`
  expect((await run(id, 'cat /etc/ssl/certs/ca-certificates.crt')).output).toBe(bundle)
  expect(await reaches(id)).toBe(false)
  await put(id, { rules })
  expect((await run(id, 'cat /etc/ssl/certs/ca-certificates.crt')).output).toBe(bundle)
  // A fork has its own.
  const { body: forks } = await call('POST', `/sandboxes/${id}/fork`, { timeout: 600 })
  const fork = (forks as unknown as { sandbox: { sandboxID: string } }[])[0]?.sandbox.sandboxID ?? ''
  const own = `others\n${sandboxAuthority(api.ctx.installation.tokenSeed, fork).certificatePem.trimEnd()}`
  await expect.poll(async () => (await run(fork, 'cat /etc/ssl/certs/ca-certificates.crt')).output).toBe(own)
})
