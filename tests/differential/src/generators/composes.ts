import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { ODD, PRESENT } from './paths.ts'

const AREA = 'POST /files/compose'

export function compose(body: unknown, headers: WireRequest['headers'] = [['Content-Type', 'application/json']]): WireRequest {
  return { method: 'POST', target: '/files/compose', headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}

const SOURCES: readonly (readonly string[])[] = [
  [],
  ['/scratch/file.txt'],
  ['/scratch/file.txt', '/scratch/large.txt', '/scratch/empty', '/scratch/binary.bin'],
  ['/scratch/empty', '/scratch/empty.txt'],
  ['/scratch/file.txt', '/scratch/file.txt'],
  ['/scratch/file.txt', '/scratch/missing'],
  ['/scratch/file.txt', '/scratch/dir'],
  ['/scratch/file.txt', '/scratch/new.txt'],
  ['/scratch/to-file', '/scratch/to-link'],
  ['/mnt/other/there.txt', '/scratch/file.txt'],
  ['file.txt', '~/file.txt', 'work/notes.txt'],
  ['/scratch/file.txt', '/scratch/hard', '/scratch/dir/a'],
  ['/scratch/meta', '/scratch/secret', '/scratch/strangers'],
  ['/scratch/file.txt', '/scratch//file.txt', '/scratch/./file.txt'],
]
const DESTINATIONS = [
  [
    '/scratch/new.txt',
    '/scratch/new/deep/new.txt',
    '/scratch/file.txt',
    '/scratch//file.txt',
    '/scratch/dir/../file.txt',
    '/scratch/to-file',
    '/scratch/hard',
  ],
  [
    '/scratch/dir',
    '/scratch/empty-dir',
    '/scratch/dir/',
    '/scratch/broken',
    '/scratch/loop-a',
    '/scratch/file.txt/x',
    '/mnt/other/new.txt',
    'new.txt',
    '~/new.txt',
  ],
  [
    '',
    '~user',
    '/scratch/fifo',
    '/scratch/meta',
    '/scratch/setuid',
    '/scratch/new.txt/',
    `/scratch/${'n'.repeat(255)}`,
    `/scratch/${'n'.repeat(215)}`,
  ],
].flat()
const BODIES = [
  [
    '',
    ' ',
    '{',
    '[]',
    'null',
    '1',
    '"x"',
    '{}',
    '{"source_paths":null,"destination":null}',
    '{"source_paths":[],"destination":"/scratch/n"}',
  ],
  [
    '{"source_paths":["/scratch/file.txt"]}',
    '{"source_paths":["/scratch/file.txt"],"destination":null}',
    '{"source_paths":["/scratch/file.txt"],"destination":1}',
  ],
  [
    '{"source_paths":"/scratch/file.txt","destination":"/scratch/n"}',
    '{"source_paths":[1],"destination":"/scratch/n"}',
    '{"source_paths":[null],"destination":"/scratch/n"}',
  ],
  ['{"source_paths":{},"destination":"/scratch/n"}', '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n","username":null}'],
  [
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n","username":1}',
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n","x":1}',
  ],
  [
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n"} ',
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n"}x',
  ],
  [
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n"}{"destination":"x"}',
    '{"Source_Paths":["/scratch/file.txt"],"DESTINATION":"/scratch/n"}',
  ],
  [
    '{"sourcePaths":["/scratch/file.txt"],"destination":"/scratch/n"}',
    '{"source_paths":["/scratch/empty"],"source_paths":["/scratch/file.txt"],"destination":"/scratch/n"}',
  ],
  [
    '{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n",}',
    "{'source_paths':[]}",
    '{"source_paths":["\\ud800"],"destination":"/scratch/n"}',
  ],
  [
    '{"source_paths":["/scratch/file.txt","destination":"/scratch/n"}',
    '{"source_paths":["/scratch/file\\u002etxt"],"destination":"\\/scratch\\/n"}',
  ],
  [
    '\uFEFF{"source_paths":["/scratch/file.txt"],"destination":"/scratch/n"}',
    '{"source_paths":["/scratch/a\\u0000b"],"destination":"/scratch/n"}',
    '[[[[[[[',
  ],
].flat()

/** Every combination of sources and destinations. */
export function* composeScenarios(): Generator<Scenario> {
  for (const source_paths of SOURCES) {
    for (const destination of DESTINATIONS) yield oneRequest(AREA, compose({ source_paths, destination }))
  }
  for (const path of [
    ...ODD,
    ...PRESENT.slice(0, 8),
    '/scratch/fifo',
    '/scratch/null',
    '/scratch/socket',
    '/scratch/broken',
    '/scratch/loop-a',
    '/scratch/chain/59',
  ]) {
    yield oneRequest(AREA, compose({ source_paths: ['/scratch/empty', path], destination: '/scratch/new.txt' }))
    yield oneRequest(AREA, compose({ source_paths: ['/scratch/file.txt'], destination: path }))
  }
  for (const body of BODIES) yield oneRequest(AREA, compose(body))
  for (const username of ['user', 'other', 'root', 'missing', '', ' ', '1000']) {
    yield oneRequest(AREA, compose({ source_paths: ['/scratch/file.txt', '~/file.txt'], destination: 'deep/new.txt', username }))
  }
  const good = { source_paths: ['/scratch/file.txt'], destination: '/scratch/n' }
  for (const type of ['', 'text/plain', 'application/xml', 'multipart/form-data'])
    yield oneRequest(AREA, compose(good, [['Content-Type', type]]))
  yield oneRequest(AREA, compose(good, []))
  yield oneRequest(AREA, compose(good, [['Content-Encoding', 'gzip']]))
  const sources = Array.from({ length: 1024 }, (_, index) => (index % 2 === 0 ? '/scratch/file.txt' : '/scratch/empty'))
  yield oneRequest(AREA, compose({ source_paths: sources, destination: '/scratch/n' }))
}
