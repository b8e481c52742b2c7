import { createHash } from 'node:crypto'
import type { Scenario, Step } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { download, type Query, upload } from '../wire/files.ts'
import { basic, jsonCall } from '../wire/rpc.ts'
import { compose } from './composes.ts'

const TOKEN = '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0'
const LATER = '4102444800'
const PAST = '1000000000'

function init(body: unknown): WireRequest {
  return { method: 'POST', target: '/init', headers: [['Content-Type', 'application/json']], body: Buffer.from(JSON.stringify(body)) }
}

function sign(operation: 'read' | 'write', { path = '', username = '', signature_expiration }: Query, token = TOKEN): string {
  const text = [path, operation, username, token, ...(signature_expiration === undefined ? [] : [signature_expiration])].join(':')
  return `v1_${createHash('sha256').update(text).digest('base64').replaceAll('=', '')}`
}

/** A query with a valid signature, and with almost valid ones. */
function* signed(operation: 'read' | 'write', query: Query): Generator<Query> {
  const signature = sign(operation, query)
  yield query
  yield { ...query, signature }
  yield { ...query, signature: `${signature}=` }
  yield { ...query, signature: signature.slice(0, -1) }
  yield { ...query, signature: signature.slice(3) }
  yield { ...query, signature: signature.toUpperCase() }
  yield { ...query, signature: '' }
  yield { ...query, signature: `${signature} ` }
  yield { ...query, signature: signature.replaceAll('+', '-').replaceAll('/', '_') }
  yield { ...query, signature: sign(operation === 'read' ? 'write' : 'read', query) }
  yield { ...query, signature: sign(operation, query, 'other') }
  yield { ...query, signature, signature_expiration: LATER }
  for (const signature_expiration of [LATER, PAST, '0', '-1', '+5', '007', '99999999999999999999', 'x', '']) {
    const expiring = { ...query, signature_expiration }
    yield { ...expiring, signature: sign(operation, expiring) }
    yield { ...expiring, signature: 'v1_wrong' }
  }
}

const QUERIES: readonly Query[] = [
  { path: '/scratch/file.txt' },
  { path: 'file.txt', username: 'user' },
  { path: 'file.txt', username: '' },
  { path: '/scratch/文件.pdf' },
  { path: '/scratch/plus+name.txt', username: 'root' },
  { path: '/scratch/missing', username: 'missing' },
  { path: '' },
  {},
]
const HEADERS: readonly WireRequest['headers'][] = [
  [],
  [['X-Access-Token', TOKEN]],
  [['x-access-token', TOKEN]],
  [['X-Access-Token', 'wrong']],
  [['X-Access-Token', '']],
  [['X-Access-Token', ` ${TOKEN} `]],
  [['X-Access-Token', `${TOKEN}x`]],
  [['X-Access-Token', TOKEN.toUpperCase()]],
  [
    ['X-Access-Token', TOKEN],
    ['X-Access-Token', 'wrong'],
  ],
  [
    ['X-Access-Token', 'wrong'],
    ['X-Access-Token', TOKEN],
  ],
  [['Authorization', `Bearer ${TOKEN}`]],
  [['X-Access-Token', TOKEN], basic('missing:')],
  [basic('missing:')],
  [
    ['X-Access-Token', 'wrong'],
    ['Origin', 'https://a.example'],
  ],
]

function* gated(headers: WireRequest['headers']): Generator<WireRequest> {
  for (const [method, target] of [
    ['GET', '/health'],
    ['GET', '/envs'],
    ['GET', '/unknown'],
    ['POST', '/health'],
    ['HEAD', '/files'],
    ['PUT', '/files'],
    ['GET', '/files/'],
    ['POST', '/init/'],
    ['GET', '/init'],
    ['POST', '/freeze'],
    ['OPTIONS', '/files'],
  ] as const) {
    yield { method, target, headers }
  }
  yield jsonCall('Stat', { path: 'file.txt' }, headers)
  yield jsonCall('WatchDir', { path: '/scratch/missing' }, headers)
  yield { method: 'POST', target: '/process.Process/Unknown', headers: [['Content-Type', 'application/json'], ...headers] }
  yield { method: 'GET', target: '/filesystem.Filesystem/Stat', headers }
  yield compose({ source_paths: ['/scratch/missing'], destination: '/scratch/n' }, headers)
  yield download({ path: '/scratch/file.txt' }, headers)
  yield download({ path: '/scratch/file.txt', signature: sign('read', { path: '/scratch/file.txt' }) }, headers)
  yield upload({ path: '/scratch/missing/new' }, 'x', headers)
  yield upload({ path: '/scratch/missing/new', signature: 'v1_wrong' }, 'x', headers)
}

/** The access token and signatures, in sandboxes with and without a token. */
export function* accessScenarios(): Generator<Scenario> {
  for (const token of [TOKEN, undefined]) {
    const steps: Step[] = token === undefined ? [] : [toStep(init({ accessToken: token }))]
    for (const headers of HEADERS) steps.push(...[...gated(headers)].map(toStep))
    for (const query of QUERIES) {
      for (const variant of signed('read', query)) steps.push(toStep(download(variant)))
      for (const variant of signed('write', query)) steps.push(toStep(upload(variant, 'x')))
    }
    yield { area: 'access', steps, isFresh: true }
  }
  yield* initScenarios()
}

/** The default user and directory, which change the meaning of paths. */
function* initScenarios(): Generator<Scenario> {
  for (const defaultUser of [undefined, 'user', 'other', 'missing', '']) {
    for (const defaultWorkdir of [undefined, '/scratch', '/scratch/dir/', 'work', '~/work', '~user', '/missing/dir', '..', '']) {
      const requests = [
        init({ defaultUser, defaultWorkdir }),
        ...['', 'file.txt', '~', './a'].flatMap((path) => [jsonCall('Stat', { path }), download({ path })]),
        jsonCall('ListDir', { path: '' }),
        upload({ path: 'n/new.txt' }, 'x'),
        compose({ source_paths: ['n/new.txt'], destination: 'composed' }),
        jsonCall('Stat', { path: 'composed' }, [basic('other:')]),
      ]
      yield { area: 'defaults', steps: requests.map(toStep), isFresh: true }
    }
  }
}

function toStep(request: WireRequest): Step {
  return { kind: 'request', request }
}
