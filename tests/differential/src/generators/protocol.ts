import { oneRequest, type Scenario } from '../scenario.ts'
import { envelope } from '../wire/envelopes.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { jsonCall, protoCall } from '../wire/rpc.ts'
import { rawCall } from '../wire/rpc-bytes.ts'

const AREA = 'protocol'
const STAT = { path: '/scratch/file.txt' }
const MISSING = { path: '/scratch/missing' }

/** Headers of the protocol, each on a unary call and on a stream. */
const HEADERS: readonly WireRequest['headers'][] = [
  ...['1', '2', '', ' 1 ', '01', 'x', '1, 1'].map((value) => [['Connect-Protocol-Version', value]] as const),
  ...[
    '',
    '0',
    '1',
    '00',
    '-1',
    '+1',
    '1.5',
    'x',
    ' 100',
    '9999999999',
    '10000000000',
    '99999999999',
    '100000000000000000000',
    '0x10',
    '1e3',
  ].map((value) => [['Connect-Timeout-Ms', value]] as const),
  ...['gzip', 'GZIP', 'identity', 'br', 'gzip, br', '', 'zstd', '*'].flatMap((value) => [
    [['Content-Encoding', value]] as const,
    [['Connect-Content-Encoding', value]] as const,
    [['Accept-Encoding', value]] as const,
    [['Connect-Accept-Encoding', value]] as const,
  ]),
  ...['br, gzip', 'gzip;q=0', 'identity, gzip', 'deflate, br', 'gzip;q=1.0', ' gzip', 'x,gzip', 'gzip\t'].flatMap((value) => [
    [['Accept-Encoding', value]] as const,
    [['Connect-Accept-Encoding', value]] as const,
  ]),
  ...['0', '-1', '1', 'x', '', '50', '99999999999'].map((value) => [['Keepalive-Ping-Interval', value]] as const),
  [['User-Agent', 'connect-python']],
  [['User-Agent', 'connect-es/2.0']],
  [
    ['Connect-Timeout-Ms', '1000'],
    ['Connect-Timeout-Ms', '2000'],
  ],
]

const TYPES = [
  [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
    'application/json; x=y',
  ],
  [
    'application/json ',
    ' application/json',
    'application/json;',
    'application/json, application/json',
    'application/proto',
    'application/x-protobuf',
    'application/protobuf',
  ],
  [
    'application/connect+json',
    'application/connect+json; charset=utf-8',
    'application/connect+proto',
    'application/connect',
    'application/connect+xml',
    'application/grpc',
  ],
  [
    'application/grpc+proto',
    'application/grpc-web',
    'application/grpc-web+json',
    'application/grpc-web+proto',
    'text/plain',
    'application/xml',
    '',
    '/',
    'application/',
  ],
].flat()

/** Valid and invalid JSON messages. */
const MESSAGES = [
  [
    '',
    ' ',
    '{}',
    '{"path":"/scratch/file.txt"}',
    '{"path":null}',
    '{"path":1}',
    '{"path":true}',
    '{"path":[]}',
    '{"path":{}}',
    '{"path":["a"]}',
    'null',
    '[]',
    '1',
    '"x"',
    '{',
  ],
  [
    '{"path"}',
    '{"path":}',
    '{path:"x"}',
    "{'path':'x'}",
    '{"path":"/scratch/file.txt",}',
    '{"path":"/scratch/file.txt"} ',
    '{"path":"/scratch/file.txt"}x',
    '{"path":"/scratch/file.txt"}{}',
  ],
  [
    '{"path":"/scratch/file.txt","path":"/scratch/empty"}',
    '{"Path":"/scratch/file.txt"}',
    '{"unknown":1,"path":"/scratch/file.txt"}',
    '{"unknown":{"a":[1,{}]},"path":"/scratch/file.txt"}',
  ],
  [
    '{"path":"\\/scratch\\/file.txt"}',
    '{"path":"/scratch/\\u0066ile.txt"}',
    '{"path":"\\ud83d\\ude00"}',
    '{"path":"\\ud83d"}',
    '{"path":"\\x"}',
    '{"path":"a\tb"}',
    '{"path":"a\nb"}',
  ],
  [
    '\uFEFF{"path":"/scratch/file.txt"}',
    '\n\t {"path" : "/scratch/file.txt"}\r\n',
    '/* c */{"path":"x"}',
    '{"path":"/scratch/file.txt" "x":1}',
    'true',
    'nul',
    '{"":1}',
    '{"path":"x","@type":"y"}',
  ],
  [
    `{"unknown":${'['.repeat(200)}${']'.repeat(200)}}`,
    `{"unknown":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    '['.repeat(100_000),
    '{"unknown":1e999}',
    '{"unknown":01}',
    '{"unknown":NaN}',
  ],
].flat()

/** Valid and invalid uses of the Connect protocol (envd.md 6). */
export function* protocolScenarios(): Generator<Scenario> {
  for (const headers of HEADERS) {
    const names = new Set(headers.map(([name]) => name))
    for (const request of [
      jsonCall('Stat', STAT),
      jsonCall('Stat', MISSING),
      protoCall('Stat', STAT),
      jsonCall('WatchDir', MISSING),
      jsonCall('WatchDir', { path: '/scratch' }),
      protoCall('WatchDir', MISSING),
    ]) {
      yield oneRequest(AREA, { ...request, headers: [...request.headers.filter(([name]) => !names.has(name)), ...headers] })
    }
  }
  yield oneRequest(AREA, { ...jsonCall('Stat', STAT), headers: [['Content-Type', 'application/json']] })
  yield oneRequest(AREA, { ...jsonCall('WatchDir', MISSING), headers: [['Content-Type', 'application/connect+json']] })
  for (const type of TYPES) {
    yield oneRequest(AREA, rawCall(type, Buffer.from(JSON.stringify(STAT))))
    yield oneRequest(AREA, rawCall(type, envelope(Buffer.from(JSON.stringify(MISSING))), [], 'WatchDir'))
  }
  yield oneRequest(AREA, rawCall(undefined, Buffer.from('{}')))
  for (const message of MESSAGES) {
    yield oneRequest(AREA, rawCall('application/json', Buffer.from(message)))
    yield oneRequest(AREA, rawCall('application/connect+json', envelope(Buffer.from(message)), [], 'WatchDir'))
  }
  yield oneRequest(AREA, rawCall('application/json', Buffer.from('{"path":"/scratch/raw/caf\xe9.txt"}', 'latin1')))
  yield* fieldScenarios()
}

/** Numbers, booleans and names of fields in every spelling. */
function* fieldScenarios(): Generator<Scenario> {
  for (const value of [
    '0',
    '1',
    '-0',
    '1.0',
    '1e0',
    '"1"',
    '"1.0"',
    '" 1"',
    '"-1"',
    '-1',
    '1.5',
    '4294967295',
    '4294967296',
    'true',
    '"x"',
    '[]',
    '{}',
    'null',
    '""',
    '"1e1"',
    '1E2',
    '"0x1"',
    '"+1"',
  ]) {
    yield oneRequest(AREA, jsonCall('ListDir', `{"path":"/scratch/dir","depth":${value}}`))
  }
  for (const value of ['true', 'false', '"true"', '1', '0', 'null', '""', '[]']) {
    yield oneRequest(AREA, jsonCall('CreateWatcher', `{"path":"/scratch/missing","recursive":${value}}`))
    yield oneRequest(AREA, jsonCall('CreateWatcher', `{"path":"/scratch/missing","include_entry":${value}}`))
    yield oneRequest(AREA, jsonCall('CreateWatcher', `{"path":"/scratch/missing","allowNetworkMounts":${value}}`))
  }
  for (const name of ['watcherId', 'watcher_id', 'WatcherId', 'watcherID']) {
    for (const value of ['"w"', '""', 'null', '1', `"${'w'.repeat(21)}"`]) {
      yield oneRequest(AREA, jsonCall('GetWatcherEvents', `{"${name}":${value}}`))
      yield oneRequest(AREA, jsonCall('RemoveWatcher', `{"${name}":${value}}`))
    }
  }
}
