import type { Scenario } from '../../scenario.ts'
import type { ProcessMethod } from '../../script/script.ts'
import { envelope } from '../../wire/envelopes.ts'
import type { WireRequest } from '../../wire/exchange.ts'
import { ask, reading } from './steps.ts'

const AREA = 'process messages'
const STREAMS: readonly ProcessMethod[] = ['Start', 'Connect', 'StreamInput']
const UNARY: readonly ProcessMethod[] = ['List', 'Update', 'SendInput', 'SendSignal', 'CloseStdin']

const SHAPES: readonly string[] = [
  '',
  ' ',
  '{}',
  'null',
  '[]',
  '1',
  '"x"',
  '{',
  '{"process"}',
  '{"process":null}',
  '{"process":{}}',
  '{"process":"x"}',
  '{"process":[]}',
]

/** Invalid and unusual messages for `Start`. */
const STARTS: readonly string[] = [
  ...SHAPES,
  ...['null', '5', 'true', '[]', '{}', '""', '"\\ud800"', '"\\u0000"'].map((cmd) => `{"process":{"cmd":${cmd}}}`),
  ...['null', '5', '"x"', '{}', '[]', '[null]', '[5]', '[[]]', '["a",null]', '["a",5]'].map(
    (args) => `{"process":{"cmd":"echo","args":${args}}}`,
  ),
  ...['null', '5', '"x"', '[]', '{"A":null}', '{"A":5}', '{"A":{}}', '{"A":"1","A":"2"}', '{"__proto__":"x"}'].map(
    (envs) => `{"process":{"cmd":"/bin/sh","args":["-c","echo $A"],"envs":${envs}}}`,
  ),
  ...['null', '5', 'true', '[]', '{}', '"/"'].map((cwd) => `{"process":{"cmd":"pwd","cwd":${cwd}}}`),
  ...['null', '5', 'true', '[]', '{}', '"t"'].map((tag) => `{"process":{"cmd":"true"},"tag":${tag}}`),
  ...['null', '5', '"true"', '""', '[]', 'true', 'false'].map((stdin) => `{"process":{"cmd":"true"},"stdin":${stdin}}`),
  ...[
    '5',
    '"x"',
    '[]',
    '{"size":5}',
    '{"size":[]}',
    '{"size":{"cols":"80","rows":24.0}}',
    '{"size":{"cols":-1}}',
    '{"size":{"cols":1.5}}',
  ].map((pty) => `{"process":{"cmd":"/bin/sh","args":["-c","stty size"]},"pty":${pty}}`),
  ...['{"size":{"cols":4294967296}}', '{"size":{"cols":"x"}}', '{"size":{"Cols":80}}', '{"cols":80}'].map(
    (pty) => `{"process":{"cmd":"/bin/sh","args":["-c","stty size"]},"pty":${pty}}`,
  ),
  '{"process":{"cmd":"true"},"unknown":{"a":[1]}}',
  '{"process":{"cmd":"true"},"process":{"cmd":"false"}}',
  '{"Process":{"cmd":"true"}}',
  '{"process":{"cmd":"true"}}x',
]

const HEADERS: readonly WireRequest['headers'][] = [
  ...['2', '', 'x'].map((value) => [['Connect-Protocol-Version', value]] as const),
  ...['gzip', 'br', 'identity', ''].flatMap((value) => [
    [['Connect-Content-Encoding', value]] as const,
    [['Content-Encoding', value]] as const,
    [['Connect-Accept-Encoding', value]] as const,
    [['Accept-Encoding', value]] as const,
  ]),
  ...['application/json', 'application/connect+json', 'application/proto', 'application/connect+proto', 'text/plain', ''].map(
    (value) => [['Content-Type', value]] as const,
  ),
]

const TRUE = { process: { cmd: 'true' } }

/** Malformed messages and odd headers, for every call (envd.md 6). */
export function* processMessageScenarios(): Generator<Scenario> {
  for (const message of STARTS) yield reading(AREA, [ask('Start', message)])
  for (const method of [...STREAMS, ...UNARY]) {
    for (const message of ['', '{', '[]', 'null', '5', '{"process":5}', '{"process":{"pid":1,"tag":"x"}}', '{"unknown":1}']) {
      yield reading(AREA, [ask(method, message)])
    }
    for (const headers of HEADERS) yield reading(AREA, [ask(method, method === 'Start' ? TRUE : {}, { headers })])
    for (const bytes of [Buffer.from([0xff]), Buffer.from([0x0a, 0x05, 0x01]), Buffer.from([0x0a, 0x02, 0x08, 0x01]), Buffer.alloc(0)]) {
      const body = STREAMS.includes(method) ? envelope(bytes) : bytes
      yield reading(AREA, [ask(method, body, { codec: 'proto' })])
    }
  }
  const [good, empty] = [envelope(Buffer.from(JSON.stringify(TRUE))), envelope(Buffer.alloc(0))]
  for (const bytes of [
    empty,
    Buffer.alloc(0),
    Buffer.concat([good, good]),
    Buffer.concat([good, envelope(Buffer.from('{}'), 2)]),
    good.subarray(0, 8),
    good.subarray(0, 3),
  ]) {
    yield reading(AREA, [ask('Start', bytes)])
    yield reading(AREA, [ask('Connect', bytes)])
  }
}
