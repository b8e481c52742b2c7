import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { ARCHIVE_LIMITS } from '@sandyard/kit/archive/entry-rules'
import { pack, type Header } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UPLOAD_BOUNDS } from '../src/uploads/upload-bounds.ts'
import { UploadFolder } from '../src/uploads/upload-folder.ts'
import { checkUploadLink, signUploadLink, type UploadKey } from '../src/uploads/upload-link.ts'
import { UploadStore } from '../src/uploads/upload-store.ts'
import { Fuse } from './support/fuse.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let origin: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({
    env: { SANDYARD_UPLOAD_LIMIT: '1MiB', SANDYARD_UPLOAD_UNPACKED_LIMIT: '4MiB' },
    // A loaded machine may take long to read the body of a request that is refused.
    app: { bodyTimeoutMs: 2000 },
  })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`
})
afterAll(() => world[Symbol.asyncDispose]())

const newHash = (): string => randomBytes(32).toString('hex')

async function tar(...entries: readonly (Partial<Header> & { name: string; body?: string })[]): Promise<Buffer> {
  const archive = pack()
  for (const { body = '', ...header } of entries) archive.entry(header, body)
  archive.finalize()
  return buffer(archive)
}

const archiveOf = async (body: string): Promise<Buffer> => gzipSync(await tar({ name: 'a.txt', body }))

async function linkOf(hash: string): Promise<{ present: boolean; url: string }> {
  const answer = await fetch(`${origin}/templates/${world.templateId}/files/${hash}`, {
    headers: { 'x-api-key': world.credentials.apiKey },
  })
  expect(answer.status).toBe(201)
  return (await answer.json()) as { present: boolean; url: string }
}

async function put(url: string, body: Buffer | ReadableStream, init: RequestInit = {}): Promise<[number, unknown]> {
  const answer = await fetch(url, { method: 'PUT', body: body as ReadableStream, ...init })
  const told = await answer.text()
  return [answer.status, told === '' ? '' : (JSON.parse(told) as { message: string }).message]
}

async function contentOf(hash: string): Promise<Buffer | undefined> {
  const opened = await api.ctx.uploads.open(world.teamId, hash)
  return opened && buffer(opened)
}

const leftovers = (): Promise<string[]> => readdir(join(world.uploadsDir, 'incoming')).catch(() => [])

describe('[GET /templates/{templateID}/files/{hash}]', () => {
  it('returns whether the archive exists and a link for its upload, also for repeated uploads', async () => {
    const hash = newHash()
    const first = await linkOf(hash)
    expect(first).toEqual({ present: false, url: expect.stringMatching(`^${origin}/uploads/${world.teamId}/${hash}\\?`) })
    const body = await archiveOf('one')
    expect(await put(first.url, body)).toEqual([200, ''])
    const second = await linkOf(hash)
    expect(second.present).toBe(true)
    expect(await contentOf(hash)).toEqual(body)
    const other = await archiveOf('two')
    expect(await put(second.url, other)).toEqual([200, ''])
    expect(await contentOf(hash)).toEqual(other)
    expect(await leftovers()).toEqual([])
  })

  it('stores files that other accounts of the host cannot read', async () => {
    const hash = newHash()
    await put((await linkOf(hash)).url, await archiveOf('x'))
    const folder = join(world.uploadsDir, world.teamId)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, `${hash}.tar`))).mode & 0o777).toBe(0o600)
  })

  it('uses the configured base URL in links', async () => {
    const server = await world.startServer({ env: { SANDYARD_API_URL: 'https://api.acme.test/' } })
    const { body } = await server.call('GET', `/templates/${world.templateId}/files/${newHash()}`)
    expect(body.url).toMatch(/^https:\/\/api\.acme\.test\/uploads\//)
  })

  it.each<[string, string, number, string]>([
    ['TEMPLATE', 'A'.repeat(64), 400, 'Invalid files hash'],
    ['TEMPLATE', 'abc', 400, 'Invalid files hash'],
    ['nope', 'a'.repeat(64), 404, "Error when getting template: template 'nope' not found"],
    ['base', 'a'.repeat(64), 404, "Error when getting template: template 'base' not found"],
  ])('%s/files/%s is %i', async (template, hash, code, message) => {
    const { body } = await api.call('GET', `/templates/${template.replace('TEMPLATE', world.templateId)}/files/${hash}`)
    expect(body).toEqual({ code, message })
  })

  it('accepts the token of a member, and does not disclose the archives of other teams', async () => {
    const url = `/templates/${world.templateId}/files/${newHash()}`
    const headers = { authorization: `Bearer ${world.credentials.accessToken}` }
    expect((await api.call('GET', url, { apiKey: null, headers })).status).toBe(201)
    expect((await api.call('GET', url, { apiKey: null })).status).toBe(401)
    const { credentials } = await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
    expect((await api.call('GET', url, { apiKey: credentials?.apiKey ?? '' })).status).toBe(404)
  })
})

/** Dies once the file is in its place and before the row is. */
class DyingFolder extends UploadFolder {
  override async accept(incoming: string, key: UploadKey): Promise<void> {
    await super.accept(incoming, key)
    throw new Error('killed')
  }
}

class FullFolder extends UploadFolder {
  override async freeBytes(): Promise<number> {
    return 256 * 1024 ** 2
  }
}

/** Begins a body of an operation that is no upload, and waits until the server hangs up on it. */
async function slowBodyEnds(): Promise<void> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write('POST /sandboxes HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
  await text(socket)
}

describe('[PUT /uploads/{teamID}/{hash}]', () => {
  it('accepts archives that arrive more slowly than other bodies may', async () => {
    const hash = newHash()
    const body = await archiveOf(randomBytes(2000).toString('hex'))
    const call = request((await linkOf(hash)).url, { method: 'PUT', headers: { 'content-length': body.length } })
    call.write(body.subarray(0, 100))
    await waitFor('the first bytes', async () => (await leftovers()).length === 1)
    // A body of another operation that comes later is given up before this one goes on.
    await slowBodyEnds()
    call.end(body.subarray(100))
    const answer = await new Promise<IncomingMessage>((resolve) => call.on('response', resolve))
    expect([answer.statusCode, await text(answer)]).toEqual([200, ''])
    expect(await contentOf(hash)).toEqual(body)
  })

  it.each<[string, (url: string, body: Buffer) => Promise<[number, unknown]>, number, RegExp]>([
    ['a wrong signature', (url, body) => put(url.replace(/signature=./, 'signature=0').replace(/.$/, 'g'), body), 403, /not valid/],
    [
      'a signature in capitals',
      (url, body) =>
        put(
          url.replace(/\w+$/, (hex) => hex.toUpperCase()),
          body,
        ),
      403,
      /not valid/,
    ],
    ['a signature with a tail', (url, body) => put(`${url}zz`, body), 403, /not valid/],
    ['another hash', (url, body) => put(url.replace(/[0-9a-f]{64}\?/, `${'0'.repeat(64)}?`), body), 403, /not valid/],
    ['another time', (url, body) => put(url.replace(/expires=\d+/, 'expires=99999999999'), body), 403, /not valid/],
    ['no signature', (url, body) => put(url.replace(/\?.*/, ''), body), 400, /^validation error/],
    ['two signatures', (url, body) => put(`${url}&signature=1`, body), 400, /^validation error/],
    ['no length', (url, body) => put(url, new Blob([new Uint8Array(body)]).stream(), { duplex: 'half' }), 400, /Content-Length/],
    ['too much', (url) => put(url, Buffer.alloc(1024 ** 2 + 1)), 413, /1048576 bytes.*SANDYARD_UPLOAD_LIMIT/],
    ['nothing', (url) => put(url, Buffer.alloc(0)), 400, /Content-Length|damaged/],
    ['no archive', (url) => put(url, Buffer.from('hello')), 400, /^the archive was refused/],
    ['a cut archive', (url, body) => put(url, body.subarray(0, -20)), 400, /^the archive was refused/],
    ['more behind it', (url, body) => put(url, Buffer.concat([body, Buffer.from('more')])), 400, /^the archive was refused/],
    ['a billion zeros', (url) => put(url, gzipSync(Buffer.alloc(5 * 1024 ** 2))), 400, /^the archive was refused: it unpacks/],
    ['a name outside', async (url) => put(url, await tar({ name: '../x', body: 'x' })), 400, /'\.\.' in its name/],
    ['an absolute name', async (url) => put(url, await tar({ name: '/etc/x', body: 'x' })), 400, /absolute/],
    ['a device', async (url) => put(url, await tar({ name: 'null', type: 'character-device' })), 400, /device/],
    ['a link outside', async (url) => put(url, await tar({ name: 'l', type: 'link', linkname: '../x' })), 400, /'\.\.'/],
  ])('refuses %s and keeps nothing of it', async (_, ask, status, message) => {
    const hash = newHash()
    const { url } = await linkOf(hash)
    expect(await ask(url, await archiveOf('x'))).toEqual([status, expect.stringMatching(message)])
    expect(await linkOf(hash)).toMatchObject({ present: false })
    expect(await leftovers()).toEqual([])
  })

  it('refuses expired links', () => {
    const { tokenSeed } = api.ctx.installation
    const key = { teamId: world.teamId, hash: newHash() }
    const { searchParams } = new URL(signUploadLink(tokenSeed, key, Date.now() - 31 * 60_000), 'http://x')
    const query = { expires: searchParams.get('expires') ?? '', signature: searchParams.get('signature') ?? '' }
    expect(() => checkUploadLink(tokenSeed, key, query)).toThrow('expired')
  })

  it('stores the last of several concurrent uploads, never a mixture', async () => {
    const hash = newHash()
    const { url } = await linkOf(hash)
    const bodies = await Promise.all(Array.from({ length: 6 }, () => archiveOf(randomBytes(20_000).toString('hex'))))
    const answers = await Promise.all(bodies.map((body) => put(url, body)))
    expect(answers).toEqual(bodies.map(() => [200, '']))
    expect(bodies.map((body) => body.toString('hex'))).toContain((await contentOf(hash))?.toString('hex'))
    expect(await readFile(join(world.uploadsDir, world.teamId, `${hash}.tar`))).toEqual(await contentOf(hash))
  })

  it('accepts more parallel archives of a template than it reads at once', async () => {
    const body = await tar({ name: 'a.bin', body: 'x'.repeat(500_000) })
    const urls = Array.from({ length: UPLOAD_BOUNDS.atOnce + 10 }, () =>
      signUploadLink(api.ctx.installation.tokenSeed, { teamId: world.teamId, hash: newHash() }),
    )
    const answers = await Promise.all(urls.map((url) => put(`${origin}${url}`, body)))
    expect(answers).toEqual(urls.map(() => [200, '']))
  })

  it('discards an upload whose client disconnects, and keeps the earlier archive', async () => {
    const hash = newHash()
    const { url } = await linkOf(hash)
    const former = await archiveOf('former')
    await put(url, former)
    const { port, pathname, search } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhello`)
    await waitFor('the first bytes', async () => (await leftovers()).length === 1)
    socket.destroy()
    await waitFor('the temporary file to go', async () => (await leftovers()).length === 0)
    expect(await contentOf(hash)).toEqual(former)
  })

  it.each([
    ['before it counts', false],
    ['when its file is in place', false],
    ['when it counts', true],
  ])('is there whole or not at all after a server that dies %s, and can be uploaded again', async (when, isThere) => {
    const key = { teamId: world.teamId, hash: newHash() }
    const body = await archiveOf('x')
    const source = { body: Readable.from([body], { objectMode: false }), sizeBytes: body.length }
    if (when === 'when its file is in place') {
      const folder = new DyingFolder(world.uploadsDir)
      const store = new UploadStore({ database: world.database, folder, limits: ARCHIVE_LIMITS })
      await expect(store.take(key, source)).rejects.toThrow('killed')
    } else {
      const fuse = new Fuse({ step: 1, when: isThere ? 'after' : 'before' })
      const dying = await world.startServer({ fuse })
      void dying.ctx.uploads.take(key, source)
      await fuse.blown
    }
    expect(await contentOf(key.hash)).toEqual(isThere ? body : undefined)
    expect((await linkOf(key.hash)).present).toBe(isThere)
    expect(await put((await linkOf(key.hash)).url, body)).toEqual([200, ''])
    expect(await contentOf(key.hash)).toEqual(body)
  })

  it('answers 507 for an archive without disk space, after it has read the body', async () => {
    const folder = new FullFolder(world.uploadsDir)
    const store = new UploadStore({ database: world.database, folder, limits: ARCHIVE_LIMITS })
    const body = Readable.from([Buffer.alloc(1000), Buffer.alloc(1000)], { objectMode: false })
    const key = { teamId: world.teamId, hash: newHash() }
    await expect(store.take(key, { body, sizeBytes: 2000 })).rejects.toMatchObject({ kind: 'insufficient_storage' })
    expect(body.readableEnded).toBe(true)
    expect(await contentOf(key.hash)).toBeUndefined()
  })

  it('treats an archive whose file is lost as absent', async () => {
    const hash = newHash()
    await world.database.db.insertInto('layer_upload').values({ team_id: world.teamId, hash, size_bytes: 1 }).execute()
    expect(await contentOf(hash)).toBeUndefined()
    expect(await linkOf(hash)).toMatchObject({ present: false })
  })
})
