import { createReadStream, createWriteStream, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { basename, dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Secret } from '@sandyard/kit/config/secret'

/** The header with the key of `VolumeStore.open`. */
const KEY_HEADER = 'x-sandyard-volume-key'

/** An answer that is an error. */
class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** In the volume, and on the disk. */
  readonly path: string
  readonly file: string
}

/**
 * A stand-in of the file service of volumes over a folder, for tests of what is in front of it: the wire of control-plane.md 15.4 without
 * owners, races and links.
 */
export async function startFakeFileService(root: string, key: Secret): Promise<Server> {
  const server = createServer((request, response) => void serve(root, key, { request, response }))
  server.unref()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function serve(root: string, key: Secret, { request, response }: Pick<Call, 'request' | 'response'>): Promise<void> {
  try {
    if (request.headers[KEY_HEADER] !== key.reveal()) throw new Refusal(401, 'UNAUTHENTICATED', 'the key is wrong')
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://volume')
    const path = posix.normalize(`/${query.get('path') ?? ''}`).replace(/(?<=.)\/$/, '')
    const handler = HANDLERS[`${request.method} ${pathname}`]
    if (handler === undefined) throw new Refusal(400, 'INVALID_REQUEST', 'there is no such operation')
    await handler({ request, response, query, path, file: join(root, path) })
  } catch (err) {
    const refusal = err instanceof Refusal ? err : toRefusal(err as NodeJS.ErrnoException)
    if (response.headersSent) response.destroy()
    else answer(response, refusal.status, { code: refusal.code, message: refusal.message })
  }
}

const HANDLERS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  'GET /path': async ({ response, file, path }) => answer(response, 200, await entryOf(file, path, 'stat')),
  'PATCH /path': async ({ request, response, file, path }) => {
    const { mode } = JSON.parse(await textOf(request)) as { readonly mode?: number }
    await entryOf(file, path, 'chmod')
    if (mode !== undefined) await chmod(file, mode)
    answer(response, 200, await entryOf(file, path, 'stat'))
  },
  'DELETE /path': async ({ response, file, path }) => {
    if (path === '/') throw new Refusal(400, 'CANNOT_DELETE_ROOT', 'cannot delete root')
    await entryOf(file, path, 'delete')
    await rm(file, { recursive: true })
    response.writeHead(204).end()
  },
  'GET /dir': async ({ response, query, file, path }) => {
    const depth = Number(query.get('depth') ?? 1)
    if (depth > 10) throw new Refusal(400, 'DEPTH_OUT_OF_RANGE', 'depth must be between 1 and 10')
    await entryOf(file, path, 'read')
    answer(response, 200, await entriesOf(file, path, Math.max(1, depth)))
  },
  'POST /dir': async ({ response, query, file, path }) => {
    await mkdir(file, { recursive: query.get('force') === 'true' })
    await chmod(file, Number(query.get('mode') ?? 0o777))
    answer(response, 201, await entryOf(file, path, 'stat'))
  },
  'GET /file': async ({ request, response, file, path }) => {
    const { size } = await entryOf(file, path, 'read')
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    const range = from === undefined ? {} : { 'content-range': `bytes ${start}-${size - 1}/${size}` }
    const headers = { 'content-type': 'application/octet-stream', 'content-length': size - start, ...range }
    response.writeHead(from === undefined ? 200 : 206, headers)
    await pipeline(createReadStream(file, { start }), response)
  },
  'PUT /file': async ({ request, response, query, file, path }) => {
    const isForced = query.get('force') === 'true'
    if (!isForced && (await exists(file))) throw new Refusal(409, 'PATH_ALREADY_EXISTS', `failed to write: "${path}" exists.`)
    if (isForced) await mkdir(dirname(file), { recursive: true })
    const beside = join(dirname(file), `.upload-${basename(file)}`)
    try {
      await pipeline(request, createWriteStream(beside))
    } catch (err) {
      await rm(beside, { force: true })
      throw err
    }
    await rm(file, { force: true })
    await rename(beside, file)
    await chmod(file, Number(query.get('mode') ?? 0o666))
    answer(response, 201, await entryOf(file, path, 'stat'))
  },
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  )
}

async function entryOf(file: string, path: string, doing: string) {
  const stats = await lstat(file).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT') throw new Refusal(404, 'PATH_NOT_FOUND', `failed to ${doing}: "${path}" not found.`)
    throw err
  })
  return toEntry(stats, path)
}

function toEntry(stats: Stats, path: string) {
  return {
    name: path === '/' ? '/' : basename(path),
    type: stats.isDirectory() ? 'directory' : 'file',
    path,
    size: stats.size,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    atime: stats.atime.toISOString(),
    mtime: stats.mtime.toISOString(),
    ctime: stats.ctime.toISOString(),
  }
}

async function entriesOf(file: string, path: string, depth: number): Promise<object[]> {
  const entries: object[] = []
  for (const name of (await readdir(file)).toSorted()) {
    const entry = await entryOf(join(file, name), posix.join(path, name), 'read')
    entries.push(entry)
    if (depth > 1 && entry.type === 'directory') entries.push(...(await entriesOf(join(file, name), entry.path, depth - 1)))
  }
  return entries
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>)
  return Buffer.concat(chunks).toString('utf8')
}

function toRefusal({ code, message }: NodeJS.ErrnoException): Refusal {
  if (code === 'ENOTDIR') return new Refusal(400, 'INVALID_REQUEST', 'a component of the path is a file, but must be a directory')
  if (code === 'EEXIST') return new Refusal(409, 'PATH_ALREADY_EXISTS', 'the path exists')
  if (code === 'ENOENT') return new Refusal(404, 'PATH_NOT_FOUND', 'a parent of the path was not found')
  return new Refusal(500, 'INTERNAL', message)
}
