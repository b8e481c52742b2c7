import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { jsonCall } from '../wire/rpc.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'get']
const TARGETS = [
  [
    '/',
    '/files',
    '/files/',
    '/files?path=/scratch/file.txt',
    '/files/compose',
    '/files/compose/',
    '/files/x',
    '//files',
    '/./files',
    '/x/../files',
    '/FILES',
  ],
  [
    '/%66iles',
    '/files%2Fcompose',
    '/files;x=1',
    '/health',
    '/health/',
    '/health?x=1',
    '/unknown',
    '/filesystem.Filesystem',
    '/filesystem.Filesystem/',
  ],
  [
    '/filesystem.Filesystem/Stat',
    '/filesystem.Filesystem/Stat/',
    '/filesystem.Filesystem/stat',
    '/filesystem.Filesystem/Unknown',
    '/filesystem.Filesystem/WatchDir',
  ],
  [
    '/filesystem.filesystem/Stat',
    '/filesystem.Filesystem//Stat',
    '/filesystem.Filesystem/%53tat',
    '/filesystem.Filesystem/Stat?x=1',
    '/process.Process/Unknown',
  ],
  ['/Filesystem/Stat', '/*', '/%', '/%zz', '/..', '/.env', '/init/x', '/%00', '/files%00', '/files?%', '/favicon.ico', '/robots.txt'],
].flat()
const ORIGINS: readonly WireRequest['headers'][] = [
  [['Origin', 'https://a.example']],
  [['Origin', 'null']],
  [['Origin', '']],
  [
    ['Origin', 'x'],
    ['Access-Control-Request-Method', 'POST'],
  ],
  [['Access-Control-Request-Method', 'GET']],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'PUT'],
    ['Access-Control-Request-Headers', 'X-Access-Token, content-type'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'get'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'TRACE'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', ''],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'OPTIONS'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Headers', ''],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Headers', 'X-A'],
    ['Access-Control-Request-Headers', 'X-B'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Headers', 'bad header,, ,é'],
  ],
  [
    ['Origin', 'https://a.example'],
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Private-Network', 'true'],
  ],
]

/** Methods, spellings of routes, and preflights of browsers. */
export function* routeScenarios(): Generator<Scenario> {
  for (const target of TARGETS) for (const method of METHODS) yield oneRequest('routes', { method, target, headers: [] })
  for (const target of [
    '/files?path=/scratch/file.txt',
    '/files?path=/scratch/missing',
    '/health',
    '/unknown',
    '/filesystem.Filesystem/Stat',
    '/files/compose',
  ]) {
    for (const headers of ORIGINS) for (const method of ['OPTIONS', 'GET', 'POST']) yield oneRequest('CORS', { method, target, headers })
  }
  for (const headers of ORIGINS) {
    yield oneRequest('CORS', jsonCall('Stat', { path: '/scratch/file.txt' }, headers))
    yield oneRequest('CORS', jsonCall('WatchDir', { path: '/scratch/missing' }, headers))
  }
}
