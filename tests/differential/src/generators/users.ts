import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { compose } from './composes.ts'
import { download, upload } from '../wire/files.ts'
import { basic, jsonCall, protoCall } from '../wire/rpc.ts'

const AREA = 'users'

/** `Authorization` in every form. */
const AUTHORIZATIONS: WireRequest['headers'] = [
  basic('user:'),
  basic('user:secret'),
  basic('user:a:b'),
  basic('root:'),
  basic('other:'),
  basic('missing:'),
  basic(':'),
  basic(':secret'),
  basic('user'),
  basic(''),
  basic('User:'),
  basic('1000:'),
  basic('user :'),
  basic('us\0er:'),
  basic("o'brien:"),
  basic('a"b\n:'),
  basic('é:'),
  ['Authorization', 'Basic'],
  ['Authorization', 'Basic '],
  ['Authorization', 'Basic !!!'],
  ['Authorization', 'basic dXNlcjo='],
  ['Authorization', 'BASIC dXNlcjo='],
  ['Authorization', 'Basic  dXNlcjo='],
  ['Authorization', 'Basic dXNlcjo'],
  ['Authorization', 'Basic dXNlcjo= '],
  ['Authorization', 'Basic dXNlcjo=,x'],
  ['Authorization', 'Basic /+8='],
  ['Authorization', 'Basic _-8='],
  ['Authorization', 'Basic bWlzc2luZzo'],
  ['Authorization', 'Basic //86'],
  ['Authorization', 'Bearer dXNlcjo='],
  ['Authorization', 'dXNlcjo='],
  ['Authorization', ''],
]

export function* userScenarios(): Generator<Scenario> {
  for (const header of AUTHORIZATIONS) {
    const requests: readonly WireRequest[] = [
      jsonCall('Stat', { path: 'file.txt' }, [header]),
      protoCall('Stat', { path: '' }, [header]),
      jsonCall('MakeDir', { path: 'new/deep' }, [header]),
      jsonCall('WatchDir', { path: 'missing' }, [header]),
      protoCall('WatchDir', { path: 'missing' }, [header]),
      jsonCall('GetWatcherEvents', { watcherId: 'w' }, [header]),
      upload({ path: 'new.txt' }, 'x', [header]),
      download({ path: 'file.txt', username: 'other' }, [header]),
      compose({ source_paths: ['/scratch/file.txt'], destination: 'n.txt' }, [header]),
      { method: 'GET', target: '/health', headers: [header] },
      { method: 'GET', target: '/unknown', headers: [header] },
      { method: 'POST', target: '/filesystem.Filesystem/Unknown', headers: [['Content-Type', 'application/json'], header] },
    ]
    for (const request of requests) yield oneRequest(AREA, request)
  }
  const twice: WireRequest['headers'] = [basic('user:'), basic('missing:')]
  yield oneRequest(AREA, jsonCall('Stat', { path: 'file.txt' }, twice))
  yield oneRequest(AREA, jsonCall('Stat', { path: 'file.txt' }, twice.toReversed()))
}
