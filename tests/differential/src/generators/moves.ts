import { oneRequest, type Scenario } from '../scenario.ts'
import { jsonCall, protoCall } from '../wire/rpc.ts'
import { ODD } from './paths.ts'

const SOURCES = [
  [
    '/scratch/file.txt',
    '/scratch/dir',
    '/scratch/empty-dir',
    '/scratch/to-file',
    '/scratch/to-dir',
    '/scratch/broken',
    '/scratch/loop-a',
    '/scratch/fifo',
  ],
  [
    '/scratch/missing',
    '/scratch/meta',
    '/scratch/hard',
    '/scratch/dir/',
    '/scratch/file.txt/',
    '/scratch/to-dir/',
    '/scratch/dir/a',
    '/mnt/other/there.txt',
  ],
].flat()
const DESTINATIONS = [
  [
    '/scratch/moved',
    '/scratch/new/deep/moved',
    '/scratch/file.txt',
    '/scratch/empty',
    '/scratch/dir',
    '/scratch/empty-dir',
    '/scratch/to-file',
    '/scratch/to-dir',
  ],
  [
    '/scratch/to-dir/moved',
    '/scratch/dir/sub/moved',
    '/scratch/dir/sub',
    '/scratch/broken',
    '/scratch/broken/x',
    '/scratch/loop-a',
    '/scratch/loop-a/x',
  ],
  [
    '/scratch/file.txt/x',
    '/mnt/other/moved',
    '/scratch/moved/',
    '/scratch/moved/.',
    '/scratch/hard',
    '/scratch/dir/a',
    'moved',
    '~/work/moved',
    '/scratch/fifo',
  ],
].flat()

/** Every kind of source to every kind of destination. */
export function* moveScenarios(): Generator<Scenario> {
  for (const source of SOURCES) {
    for (const destination of DESTINATIONS) yield oneRequest('Move', jsonCall('Move', { source, destination }))
  }
  for (const path of ODD) {
    yield oneRequest('Move', jsonCall('Move', { source: '/scratch/file.txt', destination: path }))
    if (!isHome(path)) yield oneRequest('Move', protoCall('Move', { source: path, destination: '/scratch/moved' }))
  }
}

/** True for a path that must not be moved, because the container needs it. */
function isHome(path: string): boolean {
  return /^([./~]*|\/proc.*|\/dev.*|\/mnt\/other)$/.test(path)
}
