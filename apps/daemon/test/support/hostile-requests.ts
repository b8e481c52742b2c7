import { seededRandom, type Random } from '@sandyard/test-kit/seeded-random'
import { gzipSync } from 'node:zlib'
import { envelope } from './raw-rpc.ts'

export interface HostileRequest {
  readonly title: string
  readonly bytes: Buffer
}

interface Seed {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The body is only cut, never changed, because the route changes or deletes files by names in it: a changed name could be any file. */
  readonly keepsBody?: true
}

const VERSION = { 'Connect-Protocol-Version': '1' }
const JSON_CALL = { 'Content-Type': 'application/json', ...VERSION }
/** Ends valid streams soon. */
const STREAM_CALL = { 'Content-Type': 'application/connect+json', 'Connect-Timeout-Ms': '200', ...VERSION }

const ODD_VALUES = [
  ['', ' ', '0', '-1', '1', '99999999999', '1e9', '\u0000', 'é', '"', ',', ';', '*', 'gzip', 'br', 'identity', 'gzip, gzip', 'chunked'],
  ['application/json', 'application/proto', 'application/connect+json', 'application/connect+proto', 'multipart/form-data', 'text/plain'],
  ['multipart/form-data; boundary=', 'bytes=0-', 'bytes=9-1', 'bytes=-0,1-', 'Basic Og==', 'Basic cm9vdDo=', 'Bearer x', 'x'.repeat(9000)],
].flat()
const ODD_JSON = ['null', '-1', '1.5', '1e999', '""', '"\\u0000"', '"\\ud800"', '[]', '{}', 'true', '"x"', '[[[[', '"/"', '"~"', '"../.."']
const HEADER_NAMES = [
  ['Content-Type', 'Content-Encoding', 'Accept-Encoding', 'Connect-Protocol-Version', 'Connect-Timeout-Ms', 'Connect-Content-Encoding'],
  ['Connect-Accept-Encoding', 'Keepalive-Ping-Interval', 'Authorization', 'X-Access-Token', 'Origin', 'Range', 'If-None-Match', 'If-Range'],
  ['If-Modified-Since', 'Access-Control-Request-Method', 'Expect', 'Upgrade', 'Cookie', 'X-Metadata-A', 'Host', 'Transfer-Encoding'],
].flat()
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
const ODD_QUERIES = ['?', '?path', '?path=%00', '?path=%ff', '?a=%zz', '?path=a&path=b', '?signature_expiration=x', '?username=', '?&&=']

/** A valid request to every route. They change files only in `directory`. */
function listSeeds(directory: string): readonly Seed[] {
  const json = (path: string, body: object): Seed => ({ method: 'POST', path, headers: JSON_CALL, body: Buffer.from(JSON.stringify(body)) })
  const stream = (path: string, body: object): Seed => ({ method: 'POST', path, headers: STREAM_CALL, body: envelope(body) })
  const get = (path: string): Seed => ({ method: 'GET', path, headers: {}, body: Buffer.alloc(0) })
  const selector = { process: { pid: 1 } }
  const file = encodeURIComponent(`${directory}/uploaded`)
  const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--b--\r\n'
  return [
    ...['/health', '/metrics', '/envs', `/files?path=${file}`, '/nope'].map(get),
    json('/init', { envVars: { A: 'b' }, timestamp: '2000-01-01T00:00:00Z' }),
    json('/freeze?maxWaitMs=1', {}),
    json('/filesystem.Filesystem/Stat', { path: directory }),
    json('/filesystem.Filesystem/ListDir', { path: directory, depth: 2 }),
    { ...json('/filesystem.Filesystem/MakeDir', { path: `${directory}/made` }), keepsBody: true },
    { ...json('/filesystem.Filesystem/Move', { source: `${directory}/none`, destination: `${directory}/other` }), keepsBody: true },
    { ...json('/filesystem.Filesystem/Remove', { path: `${directory}/made` }), keepsBody: true },
    { ...json('/files/compose', { source_paths: [`${directory}/none`], destination: `${directory}/composed` }), keepsBody: true },
    ...['GetWatcherEvents', 'RemoveWatcher'].map((name) => json(`/filesystem.Filesystem/${name}`, { watcherId: 'none' })),
    stream('/filesystem.Filesystem/WatchDir', { path: `${directory}/none`, recursive: false }),
    json('/process.Process/List', {}),
    ...['SendSignal', 'CloseStdin', 'Update'].map((name) => json(`/process.Process/${name}`, { ...selector, signal: 9 })),
    json('/process.Process/SendInput', { ...selector, input: { stdin: 'YQ==' } }),
    stream('/process.Process/Connect', selector),
    stream('/process.Process/StreamInput', { start: selector }),
    stream('/process.Process/Start', { process: { cmd: '/bin/true', args: ['a'], cwd: '/', envs: { A: 'b' } }, stdin: false }),
    { method: 'POST', path: `/files?path=${file}`, headers: { 'Content-Type': 'application/octet-stream' }, body: Buffer.from('hello') },
    {
      method: 'POST',
      path: `/files?path=${file}`,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: Buffer.from(form),
    },
  ]
}

/** Requests to each route in turn with up to three mutations. The same seed gives the same requests. */
export function* hostileRequests(directory: string, count: number, seed = 1): Generator<HostileRequest> {
  const random = seededRandom(seed)
  const seeds = listSeeds(directory)
  for (let i = 0; i < count; i++) {
    const chosen = seeds[i % seeds.length]
    if (chosen === undefined) return
    yield { title: `${seed}/${i} ${chosen.method} ${chosen.path}`, bytes: mutate(chosen, random) }
  }
}

function mutate(seed: Seed, random: Random): Buffer {
  const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T
  const lines = Object.entries({ Host: 'x', ...seed.headers })
  let { method, path, body } = seed
  for (let faults = 1 + random(3); faults > 0; faults--) {
    const kind = random(10)
    if (kind < 3) lines.push([pick(HEADER_NAMES), pick(ODD_VALUES)])
    else if (kind === 3) lines.splice(random(lines.length), 1)
    else if (kind === 4) lines[random(lines.length)] = [pick(HEADER_NAMES), pick(ODD_VALUES)]
    else if (kind === 5) method = pick(METHODS)
    else if (kind === 6) path = method === 'GET' ? path + pick(ODD_QUERIES) : path
    else body = mutateBody(body, random, seed.keepsBody)
  }
  const length = random(20) === 0 ? body.length + random(9) - 4 : body.length
  const framing = random(10) === 0 ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(length)]
  const head = [...lines, framing].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const framed = framing[1] === 'chunked' ? toChunks(body, random) : body
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), framed])
}

function mutateBody(body: Buffer, random: Random, keepsBody = false): Buffer {
  const cut = body.subarray(0, random(body.length + 1))
  if (keepsBody || body.length === 0) return cut
  switch (random(6)) {
    case 0:
      return cut
    case 1:
      return Buffer.from(body.map((byte) => (random(20) === 0 ? random(256) : byte)))
    case 2:
      return Buffer.concat([body, body])
    case 3:
      return gzipSync(body)
    case 4:
      return Buffer.from(body.toString('latin1').replace(/"[^"]*"(?!:)|\d+/, ODD_JSON[random(ODD_JSON.length)] ?? ''), 'latin1')
    default: {
      const at = random(body.length + 1)
      return Buffer.concat([body.subarray(0, at), Buffer.from([random(256)]), body.subarray(at)])
    }
  }
}

function toChunks(body: Buffer, random: Random): Buffer {
  const size = random(10) === 0 ? 'zz' : body.length.toString(16)
  return body.length === 0 ? Buffer.from('0\r\n\r\n') : Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
}
