import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Machine, Space } from '../../src/doctor/facts/machine.ts'
import { find, saying } from './support/find.ts'
import { ProcRoot } from './support/proc-root.ts'

const GIB = 1024 ** 3
const MAX_20 = { SANDYARD_MAX_SANDBOXES: '20' }
const folder = mkdtempSync(join(tmpdir(), 'sandyard-doctor-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Checks that read one file of the kernel: the file that breaks each, and what is then found. */
const KERNEL_FILES: readonly (readonly [id: string, file: string, text: string, level: string, found: RegExp])[] = [
  ['K3', 'proc/sys/kernel/pid_max', '32768', 'warn', /kernel\.pid_max 32768 carries 8,/],
  ['K3', 'proc/sys/kernel/threads-max', '70000', 'warn', /threads-max 70000 carries 17 of 20 possible/],
  ['K4', 'proc/sys/kernel/pty/max', '1000', 'warn', /997 of 1000 terminals are free; 20 sandboxes may want 1280/],
  ['K4', 'proc/sys/kernel/pty/nr', '3000', 'warn', /1096 of 4096/],
  ['K5', 'proc/sys/fs/inotify/max_user_instances', '83', 'warn', /83 instances; .* need 84/],
  ['K6', 'proc/sys/fs/file-nr', '700000\t0\t800000', 'warn', /700000 of 800000 files .*87 %/],
  [
    'K6',
    'proc/self/limits',
    'Max open files            1024                 4096                 files',
    'warn',
    /this process may open 1024/,
  ],
  ['K7', 'proc/sys/net/netfilter/nf_conntrack_count', '250000', 'warn', /250000 of 262144 connections \(95 %\)/],
  ['M1', 'proc/meminfo', 'MemAvailable:   900000 kB', 'fail', /: 0 full sandboxes/],
  ['M1', 'proc/meminfo', 'MemAvailable:   1200000 kB', 'warn', /: 1 full sandboxes of 1\.0 GiB, of 20/],
  ['M1', 'proc/pressure/memory', 'some avg10=50.00 avg60=12.50 avg300=0.00 total=1', 'warn', /waited for memory 12\.50 %/],
]

describe('checks of the kernel', () => {
  it.each(['K3', 'K4', 'K5', 'K6', 'K7', 'M1'])('%s is ok on a machine that is well', async (id) => {
    using root = new ProcRoot()
    expect(await find(id, { root: root.path, environment: MAX_20 })).toMatchObject({ level: 'ok' })
  })

  it.each(KERNEL_FILES)('%s sees %s with "%s"', async (id, file, text, level, found) => {
    using root = new ProcRoot({ [file]: text })
    expect(await find(id, { root: root.path, environment: MAX_20 })).toMatchObject({ level, found: saying(found) })
  })

  it('raises with --fix what is too low, and nothing else', async () => {
    using root = new ProcRoot({ 'proc/sys/kernel/pid_max': '32768' })
    const { commands } = await find('K3', { root: root.path, environment: MAX_20 })
    expect(commands).toEqual([
      "printf 'kernel.pid_max = 81920\\n' > /etc/sysctl.d/90-sandyard-k3.conf && sysctl -p /etc/sysctl.d/90-sandyard-k3.conf",
    ])
  })

  it('skips a check whose file is not there', async () => {
    using root = new ProcRoot()
    root.remove('proc/sys/kernel/pty')
    expect(await find('K4', { root: root.path })).toEqual({ level: 'skipped', found: 'there is no /proc/sys/kernel/pty/max here' })
    root.remove('proc/sys/net/netfilter')
    expect(await find('K7', { root: root.path })).toMatchObject({ level: 'skipped' })
  })

  it('skips the network of a container', async () => {
    using root = new ProcRoot({ '.dockerenv': '' })
    expect(await find('K7', { root: root.path })).toMatchObject({ level: 'skipped', found: saying('container') })
  })
})

/** Holds the kernel lock of a data directory, as its server does. */
function holdLock(dataDir: string): Disposable {
  const descriptor = openSync(join(dataDir, 'lock'), 'r')
  const { status } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
  expect(status).toBe(0)
  return { [Symbol.dispose]: () => closeSync(descriptor) }
}

describe('E8', () => {
  it('says in a container that it did not look at the port', async () => {
    using root = new ProcRoot({ '.dockerenv': '' })
    expect(await find('E8', { root: root.path })).toMatchObject({ level: 'skipped', found: saying('port 2375 was not looked at') })
    expect(await find('E8', { root: root.path, environment: { DOCKER_HOST: 'tcp://10.0.0.1:2376' } })).toMatchObject({ level: 'fail' })
  })

  it('is ok for a socket of its group, and fails for one of everybody', async () => {
    using root = new ProcRoot()
    const socket = join(folder, 'engine.sock')
    writeFileSync(socket, '')
    const environment = { DOCKER_HOST: `unix://${socket}` }
    chmodSync(socket, 0o660)
    expect(await find('E8', { root: root.path, environment })).toMatchObject({ level: 'ok' })
    chmodSync(socket, 0o666)
    expect(await find('E8', { root: root.path, environment })).toMatchObject({ level: 'fail', commands: [`chmod o-rwx ${socket}`] })
  })

  it('fails for tcp, and for port 2375 off loopback only', async () => {
    using root = new ProcRoot()
    const environment = { DOCKER_HOST: 'tcp://10.0.0.1:2376' }
    expect(await find('E8', { root: root.path, environment })).toMatchObject({
      level: 'fail',
      found: saying('without TLS'),
    })
    root.listen('0100007F', 2375)
    expect(await find('E8', { root: root.path })).toMatchObject({ level: 'ok' })
    root.listen('00000000', 2375)
    expect(await find('E8', { root: root.path })).toMatchObject({ level: 'fail', found: saying('0.0.0.0') })
    root.listen('00000000', 2376)
    root.listen('0'.repeat(32), 2375)
    expect(await find('E8', { root: root.path })).toMatchObject({ level: 'fail' })
  })
})

describe('S3', () => {
  const WELL: Space = { type: 0xef53, totalBytes: 100 * GIB, freeBytes: 50 * GIB, inodes: 1000, freeInodes: 500 }
  const withSpace = (change: Partial<Space>): Partial<Machine> => ({ space: () => Promise.resolve({ ...WELL, ...change }) })

  it.each([
    ['ok', {}],
    ['ok', { inodes: 0, freeInodes: 0 }],
    ['warn', { freeBytes: 14 * GIB }],
    ['warn', { freeInodes: 140 }],
    ['fail', { totalBytes: 1000 * GIB, freeBytes: 49 * GIB }],
    ['fail', { totalBytes: 10 * GIB, freeBytes: 4 * GIB }],
    ['fail', { freeInodes: 40 }],
  ] as const)('is %s for %o', async (level, change) => {
    expect(await find('S3', { dataDir: folder, machine: withSpace(change) })).toMatchObject({ level })
  })

  it('reads the real disk of the data directory', async () => {
    expect((await find('S3', { dataDir: folder })).found).toMatch(/data .*\d+ %/)
  })
})

describe('N2', () => {
  it('is ok on loopback, warns for an open API, fails for open metrics', async () => {
    using root = new ProcRoot()
    root.listen('0100007F', 3000)
    expect(await find('N2', { root: root.path })).toMatchObject({ level: 'ok' })
    root.listen('00000000', 3000)
    expect(await find('N2', { root: root.path })).toMatchObject({ level: 'warn', found: saying('the API') })
    const environment = { SANDYARD_API_URL: 'https://api.example.com' }
    expect(await find('N2', { root: root.path, environment })).toMatchObject({ level: 'ok' })
    root.listen('00000000', 3001)
    expect(await find('N2', { root: root.path, environment })).toMatchObject({
      level: 'fail',
      found: saying('metrics'),
    })
  })

  it('reads the setting while nothing listens', async () => {
    using root = new ProcRoot()
    expect(await find('N2', { root: root.path, environment: { SANDYARD_BIND: '0.0.0.0' } })).toMatchObject({ level: 'fail' })
  })
})

describe('D3', () => {
  function dataDirectory(name: string): string {
    const path = join(folder, name)
    mkdirSync(path, { mode: 0o700 })
    writeFileSync(join(path, 'credentials'), 'secret', { mode: 0o600 })
    return path
  }

  it('is ok for a private directory, and names the process that runs on it', async () => {
    using root = new ProcRoot()
    const dataDir = dataDirectory('well')
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({
      level: 'ok',
      found: saying('no server'),
    })
    // A pid that another process has now.
    writeFileSync(join(dataDir, 'lock'), '77\n')
    root.addProcess(77, ['node', 'server'])
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({ level: 'ok', found: saying('no server') })
    using _lock = holdLock(dataDir)
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({
      level: 'ok',
      found: saying('process 77'),
    })
  })

  it('fails for modes that let others in', async () => {
    using root = new ProcRoot()
    const dataDir = dataDirectory('open')
    chmodSync(dataDir, 0o755)
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({ level: 'fail', commands: [`chmod 700 ${dataDir}`] })
    chmodSync(dataDir, 0o710)
    chmodSync(join(dataDir, 'credentials'), 0o640)
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({ level: 'fail', commands: [`chmod 600 ${dataDir}/credentials`] })
  })

  it('fails when the server is of another user', async () => {
    using root = new ProcRoot()
    const dataDir = dataDirectory('foreign')
    writeFileSync(join(dataDir, 'lock'), '78\n')
    using _lock = holdLock(dataDir)
    root.addProcess(78, ['node', 'server'])
    root.write('proc/78/status', `Name:\tnode\nUid:\t${statSync(dataDir).uid + 1}\t0\t0\t0`)
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({
      level: 'fail',
      found: saying('belongs to user'),
    })
  })

  it.each([
    [0x01021994, 'fail', 'tmpfs'],
    [0x6969, 'warn', 'NFS'],
  ] as const)('judges the file system %s: %s', async (type, level, name) => {
    using root = new ProcRoot()
    const machine = { space: () => Promise.resolve({ type, totalBytes: GIB, freeBytes: GIB, inodes: 0, freeInodes: 0 }) }
    const dataDir = dataDirectory(name)
    expect(await find('D3', { root: root.path, dataDir, machine })).toMatchObject({ level, found: saying(name) })
  })

  it('warns when a Postgres outlives its server', async () => {
    using root = new ProcRoot()
    const dataDir = dataDirectory('leftover')
    mkdirSync(join(dataDir, 'postgres'))
    writeFileSync(join(dataDir, 'lock'), '79\n')
    writeFileSync(join(dataDir, 'postgres/postmaster.pid'), '80\n')
    root.addProcess(80, ['/usr/bin/postgres', '-D', join(dataDir, 'postgres')])
    expect(await find('D3', { root: root.path, dataDir })).toMatchObject({
      level: 'warn',
      found: saying('process 80'),
    })
  })

  it('is skipped without a data directory, and where this user may not look', async () => {
    expect(await find('D3')).toMatchObject({ level: 'skipped' })
    const look = { dataDir: dataDirectory('closed'), machine: { mayList: () => false } }
    expect(await find('D3', look)).toMatchObject({ level: 'skipped', found: saying('may not read') })
  })
})
