import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OriginalFile } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { LABEL, roleFilter } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { HangingEngine } from './support/hanging-engine.ts'
import { Inside } from './support/inside.ts'

const MIB = 1024 ** 2
const { signal } = new AbortController()

describe('changes of a container', () => {
  const stack = new AsyncDisposableStack()
  const spec = sandboxSpec()
  let bench: EngineBench
  let runtime: DockerRuntime
  let installation: string
  let inside: Inside

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    const options = bench.options()
    installation = options.installation
    runtime = await bench.runtime(options)
    inside = new Inside(await runtime.create(spec))
  })
  afterAll(() => stack.disposeAsync())

  const read = (path: string, maxBytes = MIB): Promise<OriginalFile> => runtime.readOriginal(spec, { path, maxBytes }, signal)
  const originals = (): Promise<unknown[]> => bench.docker.listContainers({ all: true, filters: roleFilter(installation, 'original') })

  it('lists nothing of the platform, and what programs have added, changed and deleted', async () => {
    expect(await runtime.changes(spec, MIB, signal)).toEqual({ changes: [], isCut: false })
    const done = await inside.sh(
      'mkdir -p "/srv/a b" && echo x > "/srv/a b/ü\nz" && ln -s /etc /srv/link && mkfifo /srv/pipe && echo more >> /etc/passwd && rm /etc/issue && chmod 700 /home && rm -r /opt/*',
    )
    expect(done.stderr).toContain('Read-only file system')
    await inside.sh('mkdir /var/tmp/deep && touch /var/tmp/deep/one')
    const { changes } = await runtime.changes(spec, MIB, signal)
    expect(Object.fromEntries(changes.map(({ path, kind }) => [path, kind]))).toEqual({
      '/etc/passwd': 'modified',
      '/etc/issue': 'deleted',
      '/home': 'modified',
      '/srv/a b': 'added',
      '/srv/a b/ü\nz': 'added',
      '/srv/link': 'added',
      '/srv/pipe': 'added',
      '/var/tmp/deep': 'added',
      '/var/tmp/deep/one': 'added',
    })
  })

  it('reads files of the image, never those of the sandbox or of the host, and leaves no container behind', async () => {
    const before = (await inside.readFile('/etc/passwd')) ?? ''
    const passwd = await read('/etc/passwd')
    expect(passwd).toEqual({ kind: 'file', content: Buffer.from(before.replace('more\n', '')) })
    // The sandbox has a link here that leads to a file of the host and of the image.
    await inside.sh('rm -f /etc/debian_version; ln -s ../../../../../../etc/machine-id /etc/debian_version')
    expect(await read('/etc/debian_version')).toMatchObject({ kind: 'file' })
    expect(await read('/../../../../../../etc/passwd')).toEqual(passwd)
    // Folders of the path are followed within the image: /bin is a link there.
    expect(await read('/bin/true')).toMatchObject({ kind: 'file' })
    expect(await read('/bin')).toEqual({ kind: 'symlink' })
    expect(await read('/etc')).toEqual({ kind: 'directory' })
    expect(await read('/')).toEqual({ kind: 'directory' })
    expect(await read('/etc/issue')).toMatchObject({ kind: 'file' })
    for (const path of [
      '/srv/a b/ü\nz',
      '/etc/passwd/x',
      '/etc/passwd/',
      '/proc/1/environ',
      `/${'n'.repeat(255)}`,
      '/%2e%2e/etc?path=/etc/passwd&x#y',
    ]) {
      const wanted = path === '/etc/passwd/' ? passwd : { kind: 'absent' }
      expect(await read(path), path).toEqual(wanted)
    }
    const size = (passwd.kind === 'file' && passwd.content.length) || 0
    expect(await read('/etc/passwd', size)).toEqual(passwd)
    expect(await read('/etc/passwd', size - 1)).toEqual({ kind: 'large', sizeBytes: size })
    expect(await originals()).toEqual([])
  })

  it('reads what is no file of an image of its own: a device, a pipe, links in a circle, a large file, a name with odd characters', async () => {
    const made = sandboxSpec()
    const maker = new Inside(await runtime.create(made))
    const content = randomBytes(3 * MIB).toString('base64')
    await maker.writeFile('/srv/large', content)
    await maker.sh(
      'cd /srv && mkfifo pipe && ln -s b a && ln -s a b && mkdir d && echo odd > "d/\\\\ \'&?%00 \\"" && ln large hard && truncate -s 64M sparse',
    )
    const snapshot = await runtime.snapshot(made, { name: 'odd', keep: 'files' })
    const copy = sandboxSpec()
    await runtime.createFrom(snapshot, copy)
    const readCopy = (path: string, maxBytes = 8 * MIB): Promise<OriginalFile> => runtime.readOriginal(copy, { path, maxBytes }, signal)
    expect(await readCopy('/srv/pipe')).toEqual({ kind: 'special' })
    expect(await readCopy('/srv/a')).toEqual({ kind: 'absent' })
    expect(await readCopy('/srv/a/x')).toEqual({ kind: 'absent' })
    expect(await readCopy('/srv/large')).toEqual({ kind: 'file', content: Buffer.from(content) })
    expect(await readCopy('/srv/hard')).toEqual({ kind: 'file', content: Buffer.from(content) })
    expect(await readCopy('/srv/sparse')).toEqual({ kind: 'large', sizeBytes: 64 * MIB })
    const { stdout } = await maker.sh('ls /srv/d')
    expect(await readCopy(`/srv/d/${stdout.replace(/\n$/, '')}`)).toEqual({ kind: 'file', content: Buffer.from('odd\n') })
    expect(await originals()).toEqual([])
  })

  it('is cut for a sandbox with very many changes', async () => {
    await inside.sh('mkdir /srv/many && cd /srv/many && seq -f "file-%06.0f" 1 30000 | xargs touch', 60_000)
    const { changes, isCut } = await runtime.changes(spec, MIB / 2, signal)
    expect(isCut).toBe(true)
    expect(changes.length).toBeGreaterThan(1000)
    expect(changes.every(({ path }) => !path.startsWith('/srv/many/') || /^\/srv\/many\/file-\d{6}$/.test(path))).toBe(true)
  })

  it('removes the container when the caller goes away, and when the engine does not send the file', async () => {
    await using engine = await HangingEngine.open()
    const remote = await bench.runtime({ installation, dockerHost: engine.address })
    const hang = engine.hangWhere(({ path }) => path.includes('/archive'))
    const gone = new AbortController()
    const reason = new Error('the caller has gone')
    const reading = remote.readOriginal(spec, { path: '/etc/passwd', maxBytes: MIB }, gone.signal)
    reading.catch(() => undefined)
    await hang.untilWaiting(1)
    expect(await originals()).toHaveLength(1)
    gone.abort(reason)
    await expect(reading).rejects.toBe(reason)
    expect(await originals()).toEqual([])
  })

  it('starts nothing: the engine tells of no start in all of the above', async () => {
    const since = Math.floor(Date.now() / 1000) - 60
    await read('/etc/passwd')
    const until = Math.ceil(Date.now() / 1000) + 1
    const filters = JSON.stringify({ type: ['container'], label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=original`] })
    const events = await bench.docker.getEvents({ since, until, filters })
    const told = Buffer.concat(await Array.fromAsync(events as AsyncIterable<Buffer>)).toString()
    const actions = told.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { Action: string }).Action]))
    expect(new Set(actions)).toEqual(new Set(['create', 'archive-path', 'destroy']))
  })
})
