import { mkdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { describe, expect, it } from 'vitest'
import { IDENTITY, INSTANCE_KEY, platformInit, startManagedDaemon, type ManagedDaemon } from './support/managed-daemon.ts'
import { bearer, tunnelStatus } from './support/tunnel.ts'

const run = promisify(execFile)
const OK = [204, '']
const FAILED = [401, 'access token validation failed']
const NO_RESET = [401, 'access token reset not authorized']

async function variables(daemon: ManagedDaemon, token = ''): Promise<unknown> {
  return (await fetch(`${daemon.url}/envs`, { headers: { 'x-access-token': token } })).json()
}

describe('[daemon POST /init] the key of the instance', () => {
  it.each([
    ['no key', ''],
    ['another key', 'key of another instance'],
    ['the digest of the key', secretDigest(INSTANCE_KEY)],
  ])('/init with %s gets a 401, and the daemon stays closed', async (_, key) => {
    await using daemon = await startManagedDaemon()
    expect(await platformInit(daemon, { identity: IDENTITY, accessToken: 'a' }, key)).toEqual(FAILED)
    expect(await platformInit(daemon, { identity: IDENTITY }, key)).toEqual(NO_RESET)
    expect(await variables(daemon)).toEqual({ code: 401, message: 'envd not initialized' })
    expect(daemon.context.state.identity).toBeUndefined()
    expect(await platformInit(daemon, { identity: IDENTITY, accessToken: 'a' })).toEqual(OK)
    expect(await platformInit(daemon, { identity: IDENTITY, accessToken: 'a' }, key), 'with the token of the sandbox').toEqual(FAILED)
    expect(await platformInit(daemon, { identity: IDENTITY }, key)).toEqual(NO_RESET)
    expect(await variables(daemon, 'a')).toMatchObject({ E2B_SANDBOX_ID: 'i1' })
  })

  it('sets, replaces and removes the access token (envd.md 5.5)', async () => {
    await using daemon = await startManagedDaemon()
    for (const accessToken of ['a', 'b']) {
      expect(await platformInit(daemon, { identity: IDENTITY, accessToken })).toEqual(OK)
      expect(daemon.context.state.accessToken?.reveal()).toBe(accessToken)
    }
    expect(await platformInit(daemon, { identity: IDENTITY })).toEqual(OK)
    expect(await variables(daemon)).toMatchObject({ E2B_SANDBOX_ID: 'i1' })
  })

  it('is also found in the arguments of the first process', async () => {
    await using daemon = await startManagedDaemon()
    await daemon.setInstanceFile(`/init\0--\0daemon\0-instance=${secretDigest('second')}\0`)
    expect(await platformInit(daemon, { identity: IDENTITY })).toEqual(NO_RESET)
    expect(await platformInit(daemon, { identity: IDENTITY }, 'second')).toEqual(OK)
  })

  it.each<[string, (daemon: ManagedDaemon, path: string) => Promise<unknown> | void]>([
    ['an absent file', () => undefined],
    ['an empty file', (daemon) => daemon.setInstanceFile('')],
    ['a digest of another length', (daemon) => daemon.setInstanceFile(secretDigest(INSTANCE_KEY).slice(1))],
    ['a digest with something behind it', (daemon) => daemon.setInstanceFile(`${secretDigest(INSTANCE_KEY)}0`)],
    ['a directory', (_, path) => mkdir(path)],
    ['a pipe', (_, path) => run('mkfifo', [path])],
    ['an endless file', (_, path) => symlink('/dev/zero', path)],
  ])('with %s no key is right, and the daemon stays closed', async (_, make) => {
    await using daemon = await startManagedDaemon()
    const path = join(daemon.root, 'instance')
    await rm(path)
    await make(daemon, path)
    expect(await platformInit(daemon, { identity: IDENTITY })).toEqual(NO_RESET)
    expect(await variables(daemon)).toEqual({ code: 401, message: 'envd not initialized' })
    await rm(path, { recursive: true, force: true })
    await daemon.setInstanceFile(secretDigest(INSTANCE_KEY))
    expect(await platformInit(daemon, { identity: IDENTITY })).toEqual(OK)
  })
})

describe('[daemon POST /init] the identity', () => {
  it('is shown to processes, and in files (envd.md 1.3, control-plane.md 11.6)', async () => {
    await using daemon = await startManagedDaemon()
    const file = async (name: string) => [
      await readFile(join(daemon.root, name), 'utf8'),
      (await stat(join(daemon.root, name))).mode & 0o777,
    ]
    expect(await platformInit(daemon, { identity: IDENTITY, envVars: { E2B_SANDBOX_ID: 'mine', A: '1' } })).toEqual(OK)
    expect(await variables(daemon)).toEqual({ A: '1', E2B_SANDBOX: 'true', E2B_SANDBOX_ID: 'i1', E2B_TEMPLATE_ID: 't1' })
    expect(await file('run/e2b/.E2B_SANDBOX_ID')).toEqual(['i1', 0o644])
    expect(await file('run/e2b/.E2B_TEMPLATE_ID')).toEqual(['t1', 0o644])
    expect(await file('.e2b')).toEqual(['ENV_ID=t1\nTEMPLATE_ID=t1\nBUILD_ID=b1\n', 0o644])
  })

  it('is replaced by a later /init of another instance, whose clock may be behind', async () => {
    await using daemon = await startManagedDaemon()
    const early = '2026-01-01T00:00:00Z'
    await platformInit(daemon, { identity: IDENTITY, accessToken: 'a', timestamp: '2026-01-01T00:00:09Z' })
    expect(await platformInit(daemon, { identity: { ...IDENTITY, sandboxID: 'late' }, timestamp: early })).toEqual(OK)
    expect(await variables(daemon, 'a'), 'after a late request of the same instance').toMatchObject({ E2B_SANDBOX_ID: 'i1' })

    await daemon.setInstanceFile(secretDigest('second'))
    const second = { sandboxID: 'i2', templateID: 't2', buildID: 'b2', tunnelSecretHash: secretDigest('2'.repeat(64)) }
    expect(await platformInit(daemon, { identity: second, accessToken: 'a' }), 'with the key of the first').toEqual(FAILED)
    expect(await platformInit(daemon, { identity: second, accessToken: 'b', timestamp: early }, 'second')).toEqual(OK)
    expect(await variables(daemon, 'b')).toEqual({ E2B_SANDBOX: 'true', E2B_SANDBOX_ID: 'i2', E2B_TEMPLATE_ID: 't2' })
    expect(await variables(daemon, 'a')).toMatchObject({ code: 401 })
    expect(await readFile(join(daemon.root, 'run/e2b/.E2B_SANDBOX_ID'), 'utf8')).toBe('i2')
    expect(await readFile(join(daemon.root, '.e2b'), 'utf8')).toBe('ENV_ID=t2\nTEMPLATE_ID=t2\nBUILD_ID=b2\n')
    expect(await tunnelStatus(daemon.url, { target: 'localhost:1', headers: bearer('2'.repeat(64)) })).toBe(502)
  })

  it('is taken over by one claim, whose clock may be behind; the daemon refuses every other one', async () => {
    await using daemon = await startManagedDaemon()
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`
    const claim = (name: string, second: number) => ({
      identity: IDENTITY,
      accessToken: name,
      claim: name,
      envVars: { BY: name },
      timestamp: at(second),
    })
    await platformInit(daemon, { identity: IDENTITY, accessToken: 'ahead', timestamp: at(8) })
    expect(await platformInit(daemon, claim('first', 3))).toEqual(OK)
    expect(await variables(daemon, 'first')).toMatchObject({ BY: 'first' })

    const refused = [409, 'another create has claimed this sandbox']
    expect(await platformInit(daemon, claim('second', 9))).toEqual(refused)
    expect(await platformInit(daemon, { identity: IDENTITY, accessToken: 'ahead', envVars: {}, timestamp: at(9) }), 'late').toEqual(OK)
    expect(await platformInit(daemon, claim('first', 2)), 'late').toEqual(OK)
    expect(await variables(daemon, 'first')).toMatchObject({ BY: 'first' })
    expect(await platformInit(daemon, claim('first', 4)), 'again').toEqual(OK)
    expect(await platformInit(daemon, { identity: IDENTITY, accessToken: 'first' }), 'without a time').toEqual(OK)
    expect(await platformInit(daemon, { ...claim('second', 9), claim: 1 })).toEqual([400, ''])

    await daemon.setInstanceFile(secretDigest('another'))
    expect(await platformInit(daemon, claim('second', 1), 'another'), 'of another instance').toEqual(OK)
    expect(await variables(daemon, 'second')).toMatchObject({ BY: 'second' })
  })

  it('brings the secret of tunnels; without it there are none', async () => {
    await using daemon = await startManagedDaemon()
    const secret = '1'.repeat(64)
    const status = () => tunnelStatus(daemon.url, { target: 'localhost:1', headers: bearer(secret) })
    expect(await status()).toBe(407)
    await platformInit(daemon, { identity: { ...IDENTITY, tunnelSecretHash: secretDigest(secret) } })
    expect(await status()).toBe(502)
    await platformInit(daemon, { identity: IDENTITY })
    expect(await status()).toBe(407)
  })

  it('is required in every /init', async () => {
    await using daemon = await startManagedDaemon()
    for (const identity of [undefined, null]) {
      expect(await platformInit(daemon, { identity, accessToken: 'a' })).toEqual([400, 'identity is missing'])
    }
    expect(daemon.context.state.accessToken).toBeUndefined()
    expect(await variables(daemon)).toEqual({ code: 401, message: 'envd not initialized' })
  })

  it.each([
    ['a text', 'i1'],
    ['a list', []],
    ['no sandbox', { ...IDENTITY, sandboxID: undefined }],
    ['an empty template', { ...IDENTITY, templateID: '' }],
    ['a build of another type', { ...IDENTITY, buildID: 1 }],
    ['a digest of another form', { ...IDENTITY, tunnelSecretHash: 'f' }],
  ])('%s gets a 400 and changes nothing', async (_, identity) => {
    await using daemon = await startManagedDaemon()
    expect(await platformInit(daemon, { identity })).toEqual([400, ''])
    expect(daemon.context.state.identity).toBeUndefined()
  })
})
