import { seededRandom, type Random } from '@sandyard/test-kit/seeded-random'
import { gzipSync } from 'node:zlib'
import type { HostileRequest } from './hostile-requests.ts'
import { envelope } from './raw-rpc.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const ODD: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  4_294_967_295,
  4_294_967_296,
  1e300,
  '',
  '7',
  '\0',
  '\ud800',
  'SIGNAL_SIGKILL',
  'YQ',
  '!',
  '~',
  '~x',
  [],
  [[]],
  {},
  { a: {} },
]
const STREAMS = new Set(['Start', 'Connect', 'StreamInput'])

/** Valid messages that do not end `pid`. Their commands stay harmless with any arguments. */
function listMessages(pid: number): readonly (readonly [method: string, messages: readonly Json[]])[] {
  const process = { pid }
  const config = { cmd: '/bin/true', args: ['a', 'b'], envs: { A: 'b' }, cwd: '/' }
  return [
    ['Start', [{ process: config, stdin: false, tag: 't' }]],
    ['Start', [{ process: config, pty: { size: { cols: 80, rows: 24 } } }]],
    ['Connect', [{ process }]],
    ['Connect', [{ process: { tag: 'target' } }]],
    ['List', [{}]],
    ['Update', [{ process, pty: { size: { cols: 1, rows: 2 } } }]],
    ['SendInput', [{ process, input: { stdin: 'YQ==' } }]],
    ['SendInput', [{ process, input: { pty: 'YQ==' } }]],
    ['SendSignal', [{ process: { pid: 1 }, signal: 'SIGNAL_SIGTERM' }]],
    ['CloseStdin', [{ process: { tag: 'none' } }]],
    ['StreamInput', [{ start: { process } }, { keepalive: {} }, { data: { input: { stdin: 'YQ==' } } }]],
  ]
}

/** Mutated requests to each method in turn: invalid messages, bodies or headers. The same seed gives the same requests. */
export function* hostileProcessRequests(pid: number, count: number, seed = 1): Generator<HostileRequest> {
  const random = seededRandom(seed)
  const seeds = listMessages(pid)
  for (let index = 0; index < count; index += 1) {
    const [method, messages] = seeds[index % seeds.length] ?? ['List', []]
    yield { title: `${seed}/${index} ${method}`, bytes: toRequest(method, toBody(method, messages, random), random) }
  }
}

function toBody(method: string, messages: readonly Json[], random: Random): Buffer {
  const changed = messages.map((message) => (random(3) > 0 ? change(message, random) : message))
  if (!STREAMS.has(method)) return spoil(Buffer.from(JSON.stringify(changed[0] ?? {})), random)
  // Missing, repeated and reordered messages.
  if (random(4) === 0) changed.splice(random(changed.length + 1), random(2), changed[random(changed.length)] ?? {})
  const envelopes = changed.map((message) => {
    const text = JSON.stringify(message)
    return random(12) === 0 ? envelope(gzipSync(text), random(4)) : envelope(text, random(15) === 0 ? random(256) : 0)
  })
  return spoil(Buffer.concat(envelopes), random)
}

/** Changes, adds or removes a field somewhere. Never changes the command of a process. */
function change(value: Json, random: Random): Json {
  const odd = ODD[random(ODD.length)] ?? null
  if (typeof value !== 'object' || value === null) return odd
  if (Array.isArray(value)) return random(2) === 0 ? odd : value.map((item) => (random(2) === 0 ? change(item, random) : item))
  const names = Object.keys(value).filter((name) => name !== 'cmd')
  const name = names[random(names.length)]
  if (name === undefined || random(8) === 0) return { ...value, [JSON.stringify(odd)]: odd }
  if (random(8) === 0) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name))
  return { ...value, [name]: change(value[name] ?? null, random) }
}

/** Cuts the body, appends bytes, or leaves it unchanged. */
function spoil(body: Buffer, random: Random): Buffer {
  switch (random(8)) {
    case 0:
      return body.subarray(0, random(body.length + 1))
    case 1:
      return Buffer.concat([body, Buffer.from(Array.from({ length: random(9) }, () => random(256)))])
    default:
      return body
  }
}

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  [
    'Content-Type',
    ['application/proto', 'application/connect+proto', 'application/json', 'application/connect+json', 'application/grpc', 'x'],
  ],
  ['Connect-Protocol-Version', ['0', '2', '', 'x']],
  ['Connect-Timeout-Ms', ['0', '1', '-1', 'x', '99999999999', '9999999999']],
  ['Keepalive-Ping-Interval', ['0', '-1', 'x', '1', '99999999999999']],
  ['Connect-Content-Encoding', ['gzip', 'br', 'identity']],
  ['Connect-Accept-Encoding', ['gzip', 'br', 'gzip, br']],
  ['Content-Encoding', ['gzip', 'br', 'identity']],
  ['Authorization', ['Basic Og==', 'Basic bm9ib2R5Og==', 'Basic \xff', 'Basic', 'Bearer x']],
]

function toRequest(method: string, body: Buffer, random: Random): Buffer {
  const type = STREAMS.has(method) ? 'application/connect+json' : 'application/json'
  const headers = new Map([
    ['Host', 'x'],
    ['Content-Type', type],
    ['Connect-Protocol-Version', '1'],
    // Ends valid streams soon.
    ['Connect-Timeout-Ms', '200'],
  ])
  if (random(3) === 0) {
    const [name, values] = HEADERS[random(HEADERS.length)] ?? ['X', ['']]
    headers.set(name, values[random(values.length)] ?? '')
  }
  headers.set('Content-Length', String(body.length))
  const head = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`POST /process.Process/${method} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body])
}
