import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { findEngineId } from '@sandyard/runtime-docker/engine/engine-id'
import { bridgeName } from '@sandyard/runtime-docker/labels'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import type { Finding } from '../../src/doctor/check.ts'
import { find, saying, type FindOptions } from './support/find.ts'
import { kernelOf, PatchedEngine } from './support/patched-engine.ts'
import { ProcRoot } from './support/proc-root.ts'
import { StandInServer } from './support/stand-in-server.ts'

const INSTALLATION = `doctor-${randomBytes(4).toString('hex')}`
const GIB = 1024 ** 3
const engine = await PatchedEngine.open()
const kernel = await kernelOf(engine)
let database: TestDatabase
let client: Client

const withDatabase = (id: string, options: FindOptions = {}): Promise<Finding> =>
  find(id, { ...options, environment: { DOCKER_HOST: engine.address, DATABASE_URL: database.url, ...options.environment } })

afterEach(() => engine.reset())

beforeAll(async () => {
  database = await createTestDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(`insert into server_setting (name, value) values ('installation_id', $1)`, [INSTALLATION])
})
afterAll(async () => {
  await client.end()
  await engine[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const labels = (role: string, more: object = {}): Record<string, string> => ({
  'sandyard.installation': INSTALLATION,
  'sandyard.role': role,
  ...more,
})
const sandbox = (id: string, more: object = {}): object => ({
  Id: `${id}0123456789abcdef`,
  Names: [`/sandyard-${id}`],
  Created: 1,
  State: 'running',
  Labels: labels('sandbox', { 'sandyard.sandbox-id': id }),
  Mounts: [],
  ...more,
})
const withContainers = (...own: readonly object[]): void => engine.patch(/^\/containers\/json$/, (all: object[]) => [...all, ...own])
const withImages = (...own: readonly object[]): void => engine.patch(/^\/images\/json$/, () => own)
const image = (name: string, created = 1): object => ({
  Id: `sha256:${name}`,
  RepoTags: [`sandyard/snapshot-${INSTALLATION}:${name}`],
  Created: created,
})

it('S4 tells ours in use, ours free and others apart, and warns for much that is free', async () => {
  await using rows = new Database({ url: database.url, applicationName: 'test', log: silentLogger() })
  await SandboxRows.create(rows)
  await client.query(`update build set image = $1`, [`sandyard/snapshot-${INSTALLATION}:used`])
  withImages(image('used'), image('free'), image('young', Date.now() / 1000))
  const use = (freeBytes: number): void =>
    engine.patch(/^\/system\/df$/, () => ({
      Images: [
        { Id: 'sha256:used', Size: 3 * GIB, SharedSize: GIB, Containers: 0 },
        { Id: 'sha256:free', Size: freeBytes, SharedSize: 0, Containers: 0 },
        { Id: 'sha256:young', Size: GIB, SharedSize: 0, Containers: 0 },
        { Id: 'sha256:foreign', RepoTags: ['debian:12'], Size: 5 * GIB, SharedSize: -1, Containers: 0 },
        { Id: 'sha256:neighbour', RepoTags: ['sandyard/snapshot-other:x'], Size: 7 * GIB, SharedSize: 0, Containers: 0 },
      ],
    }))
  use(4 * GIB)
  expect(await withDatabase('S4')).toMatchObject({
    level: 'ok',
    found: saying('ours in use 3.0 GiB, ours free 4.0 GiB, shared and of other installations 7.0 GiB, others 5.0 GiB'),
  })
  use(11 * GIB)
  expect(await withDatabase('S4')).toMatchObject({ level: 'warn' })
})

it('S5 warns for an image of 100 layers', async () => {
  withImages(image('deep'))
  const layers = (count: number): void =>
    engine.patch(/^\/images\/sandyard\/snapshot-.*\/json$/, () => ({ RootFS: { Layers: Array(count).fill('x') } }))
  engine.answerOk(/^\/images\/sandyard\/snapshot-/)
  layers(99)
  expect(await withDatabase('S5')).toMatchObject({ level: 'ok', found: saying('99 layers at most') })
  layers(100)
  expect(await withDatabase('S5')).toMatchObject({ level: 'warn', found: saying('deep (100)') })
})

describe('the network of the machine', () => {
  const withNetwork = (Subnet: string): void =>
    engine.patch(/^\/networks$/, () => [
      {
        Id: 'n'.repeat(64),
        Name: `sandyard-${INSTALLATION}`,
        Driver: 'bridge',
        Labels: labels('network'),
        Options: { 'com.docker.network.bridge.name': bridgeName(INSTALLATION) },
        IPAM: { Config: [{ Subnet }] },
      },
    ])
  const rootWith = (routes: string): ProcRoot =>
    new ProcRoot({
      'proc/sys/kernel/osrelease': kernel,
      'proc/net/dev': `Inter-|\n face |\n ${bridgeName(INSTALLATION)}: 0 0`,
      'proc/net/route': `Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n${routes}`,
    })
  const DEFAULT = 'eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0'

  it('N4 fails for a route that overlaps, and warns for a small network', async () => {
    using well = rootWith(`${DEFAULT}\n${bridgeName(INSTALLATION)}\t000012AC\t0\t1\t0\t0\t0\t0000FFFF\t0\t0\t0`)
    withNetwork('172.18.0.0/16')
    expect(await withDatabase('N4', { root: well.path })).toMatchObject({ level: 'ok', found: saying('172.18.0.0/16 overlaps no route') })
    using vpn = rootWith(`${DEFAULT}\ntun0\t000012AC\t0\t1\t0\t0\t0\t00F0FFFF\t0\t0\t0`)
    expect(await withDatabase('N4', { root: vpn.path })).toMatchObject({ level: 'fail', found: saying('172.18.0.0/20 (tun0)') })
    withNetwork('172.18.0.0/28')
    const environment = { SANDYARD_MAX_SANDBOXES: '20' }
    expect(await withDatabase('N4', { root: well.path, environment })).toMatchObject({
      level: 'warn',
      found: saying('room for 13 of 20'),
    })
  })

  it('N4 is skipped without a network, and in a container that does not see it', async () => {
    engine.patch(/^\/networks$/, () => [])
    expect(await withDatabase('N4')).toMatchObject({ level: 'skipped', found: saying('no sandbox network') })
    withNetwork('172.18.0.0/16')
    engine.reset()
    withNetwork('172.18.0.0/16')
    using root = new ProcRoot({ 'proc/sys/kernel/osrelease': kernel })
    expect(await withDatabase('N4', { root: root.path })).toMatchObject({ level: 'skipped', found: saying('outside of containers') })
  })

  it('N3 fails without forwarding, and without a guard beside a running server', async () => {
    await using server = await StandInServer.open()
    using root = rootWith(DEFAULT)
    withNetwork('172.18.0.0/16')
    const options = { root: root.path, addresses: server.addresses }
    expect(await withDatabase('N3', options)).toMatchObject({ level: 'fail', found: 'no guard runs' })
    expect(await withDatabase('N3', { root: root.path })).toMatchObject({ level: 'ok' })
    withContainers({ Id: 'guard', Names: ['/guard'], State: 'running', Labels: labels('guard'), Mounts: [] })
    expect(await withDatabase('N3', options)).toMatchObject({ level: 'ok', found: saying('a guard keeps the rules') })
    root.write('proc/sys/net/ipv4/ip_forward', '0')
    expect(await withDatabase('N3', options)).toMatchObject({ level: 'fail', found: 'net.ipv4.ip_forward is 0' })
  })

  it('N3 lets a sandbox dial an allow control with --deep', async () => {
    await using server = await StandInServer.open()
    using root = rootWith(DEFAULT)
    withNetwork('172.18.0.0/16')
    withContainers({ Id: 'guard', Names: ['/guard'], State: 'running', Labels: labels('guard'), Mounts: [] })
    const deep = { root: root.path, addresses: server.addresses, isDeep: true, environment: { SANDYARD_DEBIAN_MIRROR: server.url } }
    const machine = { dial: (host: string) => Promise.resolve(host === '127.0.0.1') }
    expect(await withDatabase('N3', { ...deep, machine })).toMatchObject({
      level: 'ok',
      found: saying(`reaches 127.0.0.1:${server.port}`),
    })
    server.results.set('/dev/tcp/', { stdout: '', exitCode: 124 })
    expect(await withDatabase('N3', { ...deep, machine })).toMatchObject({ level: 'fail', found: saying('a sandbox does not (timeout)') })
    const alone = { dial: () => Promise.resolve(false) }
    expect(await withDatabase('N3', { ...deep, machine: alone })).toMatchObject({ level: 'skipped' })
  })
})

describe('R1', () => {
  it('is ok when both agree, and warns for each difference that is not young', async () => {
    withImages()
    const well = await withDatabase('R1')
    expect(well).toMatchObject({ level: 'ok' })
    withContainers(sandbox('stray'), sandbox('young', { Created: Date.now() / 1000 }), {
      ...sandbox('theirs'),
      Labels: { 'sandyard.installation': 'neighbour', 'sandyard.role': 'sandbox' },
    })
    // Of another engine everything looks like an orphan.
    await client.query(`insert into server_setting (name, value) values ('engine_id', 'of another engine')`)
    const other = await withDatabase('R1')
    expect([other.level, other.commands, other.todo]).toEqual(['warn', undefined, saying('another engine')])
    const engineId = await findEngineId(await connectEngine(engine.address), AbortSignal.timeout(15_000))
    await client.query(`update server_setting set value = $1 where name = 'engine_id'`, [engineId])
    expect(await withDatabase('R1')).toMatchObject({
      level: 'warn',
      found: saying(/^containers without a row: sandyard-stray; other installations on the engine: .*neighbour/),
      commands: ['docker rm -f stray0123456'],
    })
  })

  it('accepts the image of a removed template while a sandbox runs from it, and that of a backup in progress', async () => {
    const removed = { ...image('gone'), RepoTags: [`sandyard/removed-${INSTALLATION}:gone`] }
    const hourAgo = Math.floor(Date.now() / 1000) - 2 * 3600
    withImages(removed, image('backup-1', hourAgo))
    expect(await withDatabase('R1')).toMatchObject({
      level: 'warn',
      found: saying(/images without a row: [^,]*:gone$|images without a row: [^,]*:gone;/),
    })
    withContainers({ ...sandbox('young', { Created: Date.now() / 1000 }), ImageID: 'sha256:gone' })
    expect(await withDatabase('R1')).toMatchObject({ level: 'ok' })
  })

  it('warns for a row without a container, and for an image without a row', async () => {
    await client.query(`insert into sandbox (sandbox_id, incarnation, team_id, template_id, build_id, state, is_secure, started_at, expires_at, endpoint_host, endpoint_daemon_port, state_changed_at)
      select 'lost', 1, team_id, template_id, build_id, 'running', true, now(), now(), '127.0.0.1', 1, now() - interval '1 hour' from build join template using (template_id)`)
    withImages(image('nobody'))
    const volume = (Name: string, CreatedAt: string, role = 'daemon-volume'): object => ({ Name, CreatedAt, Labels: labels(role) })
    engine.patch(/^\/volumes$/, () => ({
      Volumes: [
        volume('sandyard-daemon-1', '2026-01-01T00:00:00Z'),
        volume('sandyard-daemon-2', '2026-02-01T00:00:00Z'),
        // A volume with files of users.
        volume('sandyard-vol-1', '2026-01-01T00:00:00Z', 'volume'),
      ],
    }))
    const { level, found } = await withDatabase('R1')
    expect([level, found]).toEqual([
      'warn',
      saying(/rows without a container: lost; volumes of former daemons .*: sandyard-daemon-1; images without a row: .*:nobody/),
    ])
    await client.query('delete from sandbox')
  })
})

it('R3 warns for sandboxes with an older daemon, and for requests that got a 501', async () => {
  await using server = await StandInServer.open()
  const { addresses } = server
  const volume = (Name: string, CreatedAt: string): object => ({ Name, CreatedAt })
  engine.patch(/^\/volumes$/, () => ({
    Volumes: [
      volume('sandyard-daemon-1', '2026-01-01T00:00:00Z'),
      volume('sandyard-daemon-2', '2026-02-01T00:00:00Z'),
      // Of another installation.
      volume('sandyard-daemon-3', '2026-03-01T00:00:00Z'),
    ],
  }))
  withContainers(sandbox('new', { Mounts: [{ Type: 'volume', Name: 'sandyard-daemon-2' }] }))
  expect(await withDatabase('R3', { addresses })).toMatchObject({ level: 'ok', found: saying('1 sandboxes, all with the newest daemon') })
  server.metrics =
    'sandyard_unimplemented_requests_total{operation="postVolumes",field=""} 3\nsandyard_unimplemented_requests_total{operation="x",field=""} 0\n'
  expect(await withDatabase('R3', { addresses })).toMatchObject({ level: 'warn', found: 'answered with 501: postVolumes (3)' })
  server.metrics = ''
  withContainers(sandbox('old', { Mounts: [{ Type: 'volume', Name: 'sandyard-daemon-1' }] }))
  expect(await withDatabase('R3', { addresses })).toMatchObject({
    level: 'warn',
    found: '1 of 2 sandboxes have an older daemon than sandyard-daemon-2',
  })
})
