import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const OK = [204, '']
const BUNDLE = 'etc/ssl/certs/ca-certificates.crt'
const OWN_COPY = 'usr/local/share/ca-certificates/e2b-ca.crt'
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
let daemon: TestDaemon

beforeEach(async () => {
  scratch = await createScratchDirectory()
  daemon = await startDaemon({ SANDYARD_SYSTEM_ROOT: scratch.path })
  await write('etc/hosts', '127.0.0.1\tlocalhost\n')
})
afterEach(async () => {
  await daemon[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const at = (path: string) => join(scratch.path, path)
const read = (path: string) => readFile(at(path), 'utf8').catch(() => undefined)

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), text)
}

async function init(body: object, of = daemon): Promise<[number, string]> {
  const response = await fetch(`${of.url}/init`, { method: 'POST', body: JSON.stringify(body) })
  expect(response.headers.get('x-envd-version')).toBe('0.6.13')
  return [response.status, await response.text()]
}

async function variables(): Promise<unknown> {
  return (await fetch(`${daemon.url}/envs`)).json()
}

async function becomes(path: string, text: string): Promise<void> {
  await pollUntil({ what: `${path} to be ${JSON.stringify(text)}`, timeoutMs: 20_000, everyMs: 5 }, async () =>
    (await read(path)) === text ? true : undefined,
  )
}

describe('[daemon POST /init] caBundle', () => {
  it('is installed before the answer, and replaces the previous bundle', async () => {
    await write(BUNDLE, 'base\n')
    expect(await init({ caBundle: 'ONE\n\n\n' })).toEqual(OK)
    expect(await read(BUNDLE)).toBe('base\nONE\n')
    await becomes(OWN_COPY, 'ONE\n')
    // The first bundle is a part of the second.
    await installed({ caBundle: 'ONE\nTWO' })
    await becomes(OWN_COPY, 'ONE\nTWO\n')
    await becomes(BUNDLE, 'base\nONE\nTWO\n')
    await installed({ caBundle: 'THREE' })
    await becomes(BUNDLE, 'base\nTHREE\n')
    expect(((await stat(at(BUNDLE))).mode & 0o777).toString(8)).toBe('644')
    expect(((await stat(at(OWN_COPY))).mode & 0o777).toString(8)).toBe('644')
  })

  it('is installed once for repeated requests', async () => {
    await write(BUNDLE, 'base\n')
    const answers = await Promise.all(Array.from({ length: 5 }, () => init({ caBundle: 'ONE' })))
    expect(answers).toEqual(answers.map(() => OK))
    expect(await init({ caBundle: 'ONE\n' })).toEqual(OK)
    expect(await read(BUNDLE)).toBe('base\nONE\n')
  })

  it('replaces the bundle of the sandbox that the image was made from', async () => {
    await write(BUNDLE, 'base\nOLD\nothers\n')
    await write(OWN_COPY, 'OLD\n')
    await init({ caBundle: 'NEW' })
    await becomes(BUNDLE, 'base\nothers\nNEW\n')
    await becomes(OWN_COPY, 'NEW\n')
    await using restarted = await startDaemon({ SANDYARD_SYSTEM_ROOT: scratch.path })
    expect(await init({ caBundle: 'NEW' }, restarted)).toEqual(OK)
    expect(await read(BUNDLE)).toBe('base\nothers\nNEW\n')
  })

  it('begins on a new line and does not replace a link', async () => {
    await write('etc/pki/bundle', 'base without an end')
    await mkdir(dirname(at(BUNDLE)), { recursive: true })
    await symlink('../../pki/bundle', at(BUNDLE))
    await init({ caBundle: 'ONE' })
    await becomes(OWN_COPY, 'ONE\n')
    await installed({ caBundle: 'TWO' })
    await becomes('etc/pki/bundle', 'base without an end\nTWO\n')
    expect((await lstat(at(BUNDLE))).isSymbolicLink()).toBe(true)
  })

  it('changes nothing if it is empty', async () => {
    expect([await init({ caBundle: '' }), await init({ caBundle: '\n\n' }), await init({ caBundle: null })]).toEqual([OK, OK, OK])
  })

  it('gets a 400 if the system has no bundle; earlier fields stay applied, and a retry may succeed', async () => {
    const text = `failed to install CA bundle: open CA bundle: open ${at(BUNDLE)}: no such file or directory`
    expect(await init({ caBundle: 'ONE', envVars: { A: '1' } })).toEqual([400, text])
    expect(await variables()).toMatchObject({ A: '1' })
    expect(daemon.context.state.initialised).toBe(false)
    await write(BUNDLE, '')
    expect(await init({ caBundle: 'ONE' })).toEqual(OK)
    expect([await read(BUNDLE), daemon.context.state.initialised]).toEqual(['ONE\n', true])
  })

  it('gets a 503 while the previous bundle is being removed', async () => {
    await write(BUNDLE, 'base\n')
    const answers = await Promise.all(['ONE', 'TWO'].map((caBundle) => init({ caBundle })))
    const busy = [503, 'failed to install CA bundle: a previous CA bundle is still being cleaned up']
    expect(answers).toContainEqual(OK)
    for (const answer of answers) expect([OK, busy]).toContainEqual(answer)
  })

  it('of a stale request is not installed', async () => {
    await write(BUNDLE, 'base\n')
    await init({ timestamp: '2026-01-02T00:00:00Z' })
    expect(await init({ timestamp: '2026-01-01T00:00:00Z', caBundle: 'ONE', hyperloopIP: '10.0.0.1' })).toEqual(OK)
    expect([await read(BUNDLE), await read('etc/hosts')]).toEqual(['base\n', '127.0.0.1\tlocalhost\n'])
  })
})

describe('[daemon POST /init] removeCaBundle', () => {
  it('removes what was installed and what update-ca-certificates made of it, and leaves the rest', async () => {
    await write(BUNDLE, 'base\n')
    await init({ caBundle: 'ONE' })
    await becomes(OWN_COPY, 'ONE\n')
    await write(BUNDLE, 'ONE\nbase\nONE\n')
    const links = { 'e2b-ca.pem': `/${OWN_COPY}`, 'abcd1234.0': 'e2b-ca.pem', 'other.pem': '/usr/share/ca-certificates/other.crt' }
    for (const [name, target] of Object.entries(links)) await symlink(target, at(`etc/ssl/certs/${name}`))
    expect(await init({ removeCaBundle: true })).toEqual(OK)
    expect([await read(BUNDLE), await read(OWN_COPY)]).toEqual(['base\n', undefined])
    expect(await readdir(at('etc/ssl/certs'))).toEqual(['ca-certificates.crt', 'other.pem'])
    await installed({ caBundle: 'ONE' })
    expect(await read(BUNDLE)).toBe('base\nONE\n')
  })

  it('waits for the installation, and removes one from before a restart', async () => {
    await write(BUNDLE, 'base\n')
    await init({ caBundle: 'ONE' })
    expect(await init({ removeCaBundle: true })).toEqual(OK)
    expect([await read(BUNDLE), await read(OWN_COPY)]).toEqual(['base\n', undefined])
    await write(BUNDLE, 'base\nOLD\n')
    await write(OWN_COPY, 'OLD\n')
    expect(await init({ removeCaBundle: true })).toEqual(OK)
    expect([await read(BUNDLE), await read(OWN_COPY)]).toEqual(['base\n', undefined])
  })

  it('has nothing to do without a bundle, and other values of the field are ignored', async () => {
    expect(await init({ removeCaBundle: true })).toEqual(OK)
    await write(BUNDLE, 'base\n')
    await init({ caBundle: 'ONE' })
    for (const removeCaBundle of [false, null, 'true', 1]) expect(await init({ removeCaBundle })).toEqual(OK)
    expect(await read(BUNDLE)).toBe('base\nONE\n')
  })
})

/** Repeats the request until no other installation is in progress. */
async function installed(body: object): Promise<void> {
  await pollUntil({ what: 'the installation', timeoutMs: 20_000, everyMs: 5 }, async () =>
    (await init(body))[0] === 204 ? true : undefined,
  )
}

describe('[daemon POST /init] hyperloopIP', () => {
  it('sets the address of the event collector, and the last request wins', async () => {
    expect(await init({ hyperloopIP: '10.0.0.1' })).toEqual(OK)
    expect(await init({ hyperloopIP: '10.0.0.2' })).toEqual(OK)
    await becomes('etc/hosts', '127.0.0.1\tlocalhost\n10.0.0.2\tevents.e2b.local\n')
    await expect.poll(variables).toEqual({ E2B_SANDBOX: 'true', E2B_EVENTS_ADDRESS: 'http://10.0.0.2' })
    await init({ envVars: { E2B_EVENTS_ADDRESS: 'mine' } })
    expect(await variables()).toMatchObject({ E2B_EVENTS_ADDRESS: 'http://10.0.0.2' })
    await init({ hyperloopIP: 'fd00::1' })
    await expect.poll(variables).toMatchObject({ E2B_EVENTS_ADDRESS: 'http://[fd00::1]' })
  })

  it.each(['nonsense', '', '10.0.0.1 evil\n10.0.0.2'])('%j is accepted and changes nothing', async (hyperloopIP) => {
    expect(await init({ hyperloopIP })).toEqual(OK)
    expect(await init({ hyperloopIP: '10.0.0.3' })).toEqual(OK)
    await becomes('etc/hosts', '127.0.0.1\tlocalhost\n10.0.0.3\tevents.e2b.local\n')
  })

  it('is accepted if there is no hosts file', async () => {
    await rm(at('etc/hosts'))
    expect(await init({ hyperloopIP: '10.0.0.1' })).toEqual(OK)
    expect(await read('etc/hosts')).toBeUndefined()
  })
})

describe('[daemon POST /init] volumeMounts', () => {
  const mount = (path: string) => ({ nfs_target: '10.0.0.1:/volume', path })

  it('of existing mounts succeed, for any lifecycle', async () => {
    expect(await init({ volumeMounts: [mount('/proc'), mount('/proc/../proc/')], lifecycleID: 'a' })).toEqual(OK)
    expect(await init({ volumeMounts: [mount('/proc')], lifecycleID: 'b' })).toEqual(OK)
    expect(await init({ volumeMounts: [], lifecycleID: null })).toEqual(OK)
  })

  it.each([
    ['/proc/self', mount('/proc/self')],
    ['', mount('')],
    ['', null],
    ['', { nfs_target: 'a' }],
    ['a "b"', mount('a "b"')],
  ])('of missing mounts get a 400 that names %j; other fields stay applied', async (path, entry) => {
    const text = `failed to setup NFS volumes: failed to mount NFS at ${JSON.stringify(path)}: volumes are mounted when the sandbox is created`
    expect(await init({ volumeMounts: [mount('/proc'), entry], defaultUser: 'nobody' })).toEqual([400, text])
    expect(daemon.context.state.defaultUser).toBe('nobody')
  })
})
