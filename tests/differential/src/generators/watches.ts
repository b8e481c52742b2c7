import type { FileAction } from '../agent/file-action.ts'
import { oneRequest, type Scenario, type Step } from '../scenario.ts'
import { upload } from '../wire/files.ts'
import { jsonCall, protoCall } from '../wire/rpc.ts'
import { compose } from './composes.ts'
import { PATHS } from './paths.ts'
import { isSafeToRemove } from './single-paths.ts'

const act = (action: FileAction): Step => ({ kind: 'act', action })
const ask = (request: ReturnType<typeof upload>): Step => ({ kind: 'request', request })
const D = '/scratch/dir'

/** Successive changes of a watched directory. */
const STORIES: readonly (readonly Step[])[] = [
  [
    ask(upload({ path: `${D}/new` }, 'content')),
    ask(upload({ path: `${D}/new` }, 'other content')),
    ask(upload({ path: `${D}/blank` }, '')),
    ask(upload({ path: `${D}/tagged` }, 'x', [['X-Metadata-Key', 'value']])),
    ask(upload({ path: `${D}/sub/new` }, 'content')),
  ],
  [
    ask(jsonCall('MakeDir', { path: `${D}/made` })),
    ask(jsonCall('Move', { source: `${D}/a`, destination: `${D}/made/a` })),
    ask(jsonCall('Move', { source: `${D}/made`, destination: `${D}/moved` })),
    ask(jsonCall('Move', { source: '/scratch/file.txt', destination: `${D}/came` })),
    ask(jsonCall('Move', { source: `${D}/came`, destination: '/scratch/gone' })),
    ask(jsonCall('Remove', { path: `${D}/moved` })),
    ask(jsonCall('Remove', { path: `${D}/B` })),
  ],
  [
    ask(compose({ source_paths: [`${D}/a`, `${D}/B`], destination: `${D}/composed` })),
    ask(compose({ source_paths: ['/scratch/file.txt'], destination: `${D}/composed` })),
  ],
  [
    act({ do: 'write', path: `${D}/w`, content: 'x' }),
    act({ do: 'append', path: `${D}/w`, content: 'y' }),
    act({ do: 'truncate', path: `${D}/w` }),
    act({ do: 'chmod', path: `${D}/w`, mode: 0o600 }),
    act({ do: 'chown', path: `${D}/w`, uid: 1001 }),
    act({ do: 'touch', path: `${D}/w` }),
    act({ do: 'link', path: `${D}/w`, to: `${D}/hard` }),
    act({ do: 'remove', path: `${D}/hard` }),
    act({ do: 'symlink', path: 'w', to: `${D}/soft` }),
    act({ do: 'rename', path: `${D}/w`, to: `${D}/B` }),
    act({ do: 'write', path: `${D}/caf\xe9`, content: 'x' }),
    act({ do: 'write', path: `${D}/${'n'.repeat(255)}`, content: 'x' }),
  ],
  [
    act({ do: 'chmod', path: D, mode: 0o700 }),
    act({ do: 'chmod', path: `${D}/sub`, mode: 0o700 }),
    act({ do: 'write', path: `${D}/sub/deeper/n`, content: 'x' }),
    act({ do: 'rename', path: `${D}/sub`, to: `${D}/renamed` }),
    act({ do: 'write', path: `${D}/renamed/n`, content: 'x' }),
    act({ do: 'rename', path: `${D}/renamed`, to: '/scratch/elsewhere' }),
    act({ do: 'write', path: '/scratch/elsewhere/m', content: 'x' }),
  ],
  [
    act({ do: 'makeDirectory', path: `${D}/one` }),
    act({ do: 'write', path: `${D}/one/f`, content: 'x' }),
    act({ do: 'makeDirectory', path: `${D}/one/two` }),
    act({ do: 'write', path: `${D}/one/two/f`, content: 'x' }),
    act({ do: 'remove', path: `${D}/one` }),
    act({ do: 'rename', path: '/scratch/chain', to: `${D}/chain` }),
    act({ do: 'remove', path: `${D}/sub` }),
  ],
  [act({ do: 'remove', path: D }), act({ do: 'makeDirectory', path: D }), act({ do: 'write', path: `${D}/n`, content: 'x' })],
  [
    act({ do: 'rename', path: D, to: '/scratch/other' }),
    act({ do: 'write', path: '/scratch/other/n', content: 'x' }),
    act({ do: 'remove', path: '/scratch/other' }),
  ],
  [ask(jsonCall('Remove', { path: D })), ask(jsonCall('MakeDir', { path: D }))],
]

/** Directories that may be watched, and their events. */
export function* watchScenarios(): Generator<Scenario> {
  for (const path of PATHS) {
    yield oneRequest('WatchDir', jsonCall('WatchDir', { path }))
    yield oneRequest('CreateWatcher', jsonCall('CreateWatcher', { path, recursive: isSafeToRemove(path) }))
  }
  for (const path of ['/scratch/dir', '/scratch/to-dir', '/proc', '/sys', '/dev']) {
    for (const recursive of [false, true])
      yield oneRequest('WatchDir', protoCall('WatchDir', { path, recursive: recursive && path.startsWith('/scratch') }))
  }
  for (const steps of STORIES) {
    for (const path of [D, '/scratch/to-dir']) {
      for (const recursive of [false, true]) {
        for (const includeEntry of [false, true]) {
          yield { area: 'watch', steps: [{ kind: 'watch', watch: { path, recursive, includeEntry, steps } }] }
        }
      }
    }
  }
}
