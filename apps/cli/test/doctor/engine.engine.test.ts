import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/doctor/check.ts'
import { EngineReader } from '../../src/doctor/facts/engine-reader.ts'
import { find, saying, type FindOptions } from './support/find.ts'
import { kernelOf, PatchedEngine } from './support/patched-engine.ts'
import { ProcRoot } from './support/proc-root.ts'
import { StandInServer } from './support/stand-in-server.ts'

const NOBODY = 65_534
const engine = await PatchedEngine.open()
const kernel = await kernelOf(engine)

afterEach(() => engine.reset())
afterAll(() => engine[Symbol.asyncDispose]())

function look(id: string, options: FindOptions = {}): Promise<Finding> {
  return find(id, { ...options, environment: { DOCKER_HOST: engine.address, ...options.environment } })
}

describe('E1', () => {
  it('is ok when the engine answers', async () => {
    expect(await look('E1')).toMatchObject({ level: 'ok' })
  })

  it('tells no socket, a refused connection and silence apart', async () => {
    expect(await find('E1')).toMatchObject({ level: 'fail', found: saying('there is no socket'), todo: saying('Start the engine') })
    const refused = { DOCKER_HOST: 'tcp://127.0.0.1:9' }
    expect(await find('E1', { environment: refused })).toMatchObject({ level: 'fail', found: saying('refused') })
    engine.silence()
    expect(await look('E1')).toMatchObject({ level: 'fail', found: saying('no answer within 5 s'), todo: saying('hangs') })
  })

  it('names a socket that this user must not use', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandyard-closed-'))
    const closed = createServer().listen(join(folder, 'engine.sock'))
    await once(closed, 'listening')
    chmodSync(join(folder, 'engine.sock'), 0o000)
    const environment = { DOCKER_HOST: `unix://${folder}/engine.sock` }
    const finding = await asNobody(() => find('E1', { environment }))
    expect(finding).toMatchObject({ level: 'fail', found: saying('must not use'), todo: saying('docker') })
    closed.close()
    rmSync(folder, { recursive: true })
  })

  it('lets the other checks of the engine be skipped', async () => {
    expect(await find('E2')).toMatchObject({ level: 'skipped', found: saying('E1') })
  })
})

/** Root may use every socket. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

describe('E2', () => {
  it.each([
    ['ok', '27.1.0', '1.46'],
    ['ok', '20.10.27', '1.41'],
    ['warn', '20.10.24+dfsg1', '1.41'],
    ['fail', '19.03.0', '1.40'],
  ])('is %s for engine %s', async (level, Version, ApiVersion) => {
    engine.patch(/^\/version$/, (answer: object) => ({ ...answer, Version, ApiVersion, MinAPIVersion: '1.12' }))
    expect(await look('E2')).toMatchObject({ level })
  })
})

describe('E3', () => {
  const withRunc = (Version: string, GitCommit = ''): void =>
    engine.patch(/^\/version$/, (answer: object) => ({
      ...answer,
      Version: '29.5.0',
      Platform: { Name: '' },
      Components: [{ Name: 'runc', Version, Details: { GitCommit } }],
    }))

  it('is ok for versions with every repair', async () => {
    withRunc('1.3.3')
    expect(await look('E3')).toMatchObject({ level: 'ok' })
  })

  it('warns for an old runc, and believes the changelog of its package', async () => {
    using root = new ProcRoot({ 'proc/sys/kernel/osrelease': kernel })
    withRunc('1.1.12', '1.1.12+ds1-5')
    expect(await look('E3', { root: root.path })).toMatchObject({ level: 'warn', found: saying(/runc 1\.1\.12\+ds1-5: .*CVE-2025-31133/) })
    root.addChangelog('runc', 'runc (1.1.12+ds1-6) * fixes CVE-2024-45310, CVE-2025-31133 and CVE-2025-52565')
    const { level, found } = await look('E3', { root: root.path })
    expect(level).toBe('warn')
    expect(found.match(/CVE-\d+-\d+/g)).toEqual(['CVE-2025-52881'])
    root.addChangelog('runc', 'CVE-2024-45310 CVE-2025-31133 CVE-2025-52565 CVE-2025-52881')
    expect(await look('E3', { root: root.path })).toMatchObject({ level: 'ok' })
    root.write('proc/sys/kernel/osrelease', '6.0.0-another')
    expect(await look('E3', { root: root.path })).toMatchObject({ level: 'warn' })
  })

  it('warns for an old Docker Desktop', async () => {
    withRunc('1.3.3')
    const named = (Name: string): void => engine.patch(/^\/version$/, (answer: object) => ({ ...answer, Platform: { Name } }))
    named('Docker Desktop 4.58.1 (123)')
    expect(await look('E3')).toMatchObject({ level: 'warn', found: saying('CVE-2026-6406') })
    named('Docker Desktop 4.59.0 (124)')
    expect(await look('E3')).toMatchObject({ level: 'ok' })
  })
})

describe('E4', () => {
  it('is ok for the runtime of the engine, and fails for one that it does not have', async () => {
    expect(await look('E4')).toMatchObject({ level: 'ok' })
    const environment = { SANDYARD_SANDBOX_RUNTIME: 'no-such' }
    expect(await look('E4', { environment })).toMatchObject({ level: 'fail', found: saying('no runtime "no-such"') })
  })

  it('fails with --deep when a runtime with a kernel of its own shows that of the host', async () => {
    await using server = await StandInServer.open()
    engine.info({ Runtimes: { runsc: {}, runc: {} }, DefaultRuntime: 'runc' })
    const deep = { isDeep: true, addresses: server.addresses }
    server.results.set('uname -r', { stdout: `${kernel}\n`, exitCode: 0 })
    expect(await look('E4', deep)).toMatchObject({ level: 'ok' })
    const environment = { SANDYARD_SANDBOX_RUNTIME: 'runsc' }
    expect(await look('E4', { ...deep, environment })).toMatchObject({ level: 'fail', found: saying('share the kernel') })
    server.results.set('uname -r', { stdout: '4.4.0\n', exitCode: 0 })
    expect(await look('E4', { ...deep, environment })).toMatchObject({ level: 'ok' })
  })
})

describe('E5', () => {
  it.each([
    ['ok', ['name=apparmor', 'name=seccomp,profile=builtin']],
    ['ok', ['name=selinux', 'name=seccomp,profile=default']],
    ['warn', ['name=seccomp,profile=default']],
    ['fail', ['name=apparmor']],
    ['fail', ['name=apparmor', 'name=seccomp,profile=unconfined']],
  ])('is %s for %o', async (level, SecurityOptions) => {
    engine.info({ SecurityOptions })
    expect(await look('E5')).toMatchObject({ level })
  })
})

describe('E6', () => {
  it('fails where nothing filters the calls, is ok where all are denied, and is not asked of a kernel of its own', async () => {
    await using server = await StandInServer.open()
    engine.info({ Runtimes: { runsc: {}, runc: {} }, DefaultRuntime: 'runc' })
    const deep = { isDeep: true, addresses: server.addresses }
    // The shell of the stand-in is a process of the host, without a filter.
    expect(await look('E6', deep)).toMatchObject({ level: 'fail', found: saying(/^sandboxes may use /) })
    server.results.set('perl', { stdout: '1\n1\n1\n38\n1\n1\n1\n', exitCode: 0 })
    expect(await look('E6', deep)).toMatchObject({ level: 'ok' })
    server.results.set('perl', { stdout: '', exitCode: 127 })
    expect(await look('E6', deep)).toMatchObject({ level: 'skipped', found: saying('perl') })
    expect(await look('E6', { ...deep, environment: { SANDYARD_SANDBOX_RUNTIME: 'runsc' } })).toMatchObject({ level: 'ok' })
    expect(await look('E6')).toMatchObject({ level: 'skipped', found: saying('--deep') })
  })
})

/** Checks of fields of `/info`. */
const INFO: readonly (readonly [id: string, level: string, change: object])[] = [
  ['E7', 'ok', { LiveRestoreEnabled: true }],
  ['E7', 'warn', { LiveRestoreEnabled: false }],
  [
    'S1',
    'ok',
    {
      Driver: 'overlay2',
      DriverStatus: [
        ['Backing Filesystem', 'extfs'],
        ['Supports d_type', 'true'],
      ],
    },
  ],
  [
    'S1',
    'fail',
    {
      Driver: 'overlay2',
      DriverStatus: [
        ['Backing Filesystem', 'xfs'],
        ['Supports d_type', 'false'],
      ],
    },
  ],
  ['S1', 'fail', { Driver: 'vfs', DriverStatus: [] }],
  ['S1', 'fail', { Driver: 'devicemapper', DriverStatus: null }],
  ['S1', 'warn', { Driver: 'btrfs', DriverStatus: [] }],
  ['K1', 'warn', { KernelVersion: '5.10.0-30-amd64' }],
  ['K2', 'ok', { CgroupVersion: '2', CpuCfsQuota: true, MemoryLimit: true, PidsLimit: true }],
  ['K2', 'warn', { CgroupVersion: '1', CpuCfsQuota: true, MemoryLimit: true, PidsLimit: true }],
  ['K2', 'fail', { CgroupVersion: '2', CpuCfsQuota: true, MemoryLimit: true, PidsLimit: false }],
]

describe('checks of /info', () => {
  it.each(INFO)('%s is %s for %o', async (id, level, change) => {
    engine.info(change)
    expect(await look(id)).toMatchObject({ level })
  })
})

describe('S2', () => {
  it('warns when the engine refuses a limit, is ok when it takes one, and leaves no container behind', async () => {
    engine.create((wanted) => (wanted.HostConfig?.StorageOpt === undefined ? wanted : undefined))
    expect(await look('S2')).toMatchObject({ level: 'warn', found: saying('cannot limit') })
    // A disk with quotas takes the limit.
    engine.create(({ HostConfig: { StorageOpt: _limit, ...others } = {}, ...more }) => ({ ...more, HostConfig: others }))
    expect(await look('S2')).toMatchObject({ level: 'ok', found: saying('limits the disk') })
    const docker = await new EngineReader(engine.address).docker()
    expect(await docker.listContainers({ all: true, filters: { label: ['sandyard.installation=doctor'] } })).toEqual([])
  })
})

describe('K1', () => {
  const DAY = 86_400
  const base = (Created: number): object => ({ Id: 'sha256:base', RepoTags: ['sandyard/base:x'], Created })
  const withBase = (Architecture: string, created: number): void => {
    engine.info({ KernelVersion: '6.1.0', Architecture: 'x86_64' })
    engine.patch(/^\/images\/json$/, () => [base(created)])
    engine.patch(/^\/images\/sha256:base\/json$/, () => ({ Architecture }))
    engine.answerOk(/^\/images\/sha256:base/)
  }

  it('is ok for a new image of the same architecture, and judges old and foreign ones', async () => {
    const now = Date.now() / 1000
    withBase('amd64', now - DAY)
    expect(await look('K1')).toMatchObject({ level: 'ok' })
    withBase('amd64', now - 91 * DAY)
    expect(await look('K1')).toMatchObject({ level: 'warn', found: saying('91 days ago') })
    withBase('arm64', now)
    expect(await look('K1')).toMatchObject({ level: 'fail', found: saying('is for arm64') })
  })
})

describe('K8', () => {
  it('asks for keys only where the engine is rootless or remaps users', async () => {
    using root = new ProcRoot({ 'proc/sys/kernel/keys/maxkeys': '83', 'proc/sys/kernel/osrelease': kernel })
    const well = { root: root.path, environment: { SANDYARD_MAX_SANDBOXES: '20' } }
    engine.info({ SecurityOptions: ['name=seccomp,profile=default'] })
    expect(await look('K8', well)).toMatchObject({ level: 'ok' })
    engine.info({ SecurityOptions: ['name=rootless'] })
    expect(await look('K8', well)).toMatchObject({ level: 'warn', found: saying('rootless engine, 83 keys') })
    engine.info({ SecurityOptions: ['name=userns'] })
    expect(await look('K8', well)).toMatchObject({ level: 'warn' })
    root.write('proc/sys/kernel/keys/maxkeys', '84')
    expect(await look('K8', well)).toMatchObject({ level: 'ok' })
  })

  it('is skipped, as all checks of the kernel, when the engine has another one', async () => {
    using root = new ProcRoot({ 'proc/sys/kernel/osrelease': '6.0.0-another' })
    expect(await look('K3', { root: root.path })).toMatchObject({ level: 'skipped', found: saying('another machine') })
  })
})

describe('M2', () => {
  it('warns when the clock of the engine is off', async () => {
    const machine = { run: () => Promise.resolve('yes') }
    expect(await look('M2', { machine })).toMatchObject({ level: 'ok' })
    engine.info({ SystemTime: new Date(Date.now() + 60_000).toISOString() })
    expect(await look('M2', { machine })).toMatchObject({ level: 'warn', found: saying(/clock of the engine is \d+\.\d s ahead/) })
  })
})

describe('N7', () => {
  it('warns for a registry that does not answer the engine, and is ok for one that does', async () => {
    const environment = { SANDYARD_REGISTRIES: 'registry.invalid:5000' }
    expect(await look('N7', { environment })).toMatchObject({ level: 'warn', found: saying('registry.invalid:5000 does not answer') })
    engine.patch(/^\/distribution\//, () => ({ Descriptor: {}, Platforms: [] }))
    engine.answerOk(/^\/distribution\//)
    expect(await look('N7', { environment })).toMatchObject({ level: 'ok' })
  })
})
