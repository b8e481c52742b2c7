import { posix } from 'node:path'
import type { Scenario } from '../scenario.ts'
import { oneRequest } from '../scenario.ts'
import { jsonCall, protoCall } from '../wire/rpc.ts'
import { PATHS } from './paths.ts'

/** Every path with every call that takes a path, in both codecs if the answer has many fields. */
export function* singlePathScenarios(): Generator<Scenario> {
  for (const path of PATHS) {
    yield oneRequest('Stat', jsonCall('Stat', { path }))
    yield oneRequest('Stat', protoCall('Stat', { path }))
    yield oneRequest('ListDir', jsonCall('ListDir', { path }))
    yield oneRequest('MakeDir', jsonCall('MakeDir', { path }))
    if (isSafeToRemove(path)) yield oneRequest('Remove', jsonCall('Remove', { path }))
  }
  for (const path of ['/scratch/raw', '/scratch/to-raw', '/scratch/raw/']) {
    yield oneRequest('ListDir', protoCall('ListDir', { path }))
  }
  for (const depth of [0, 1, 2, 3, 4, 50, 4_294_967_295, -1, 1.5, '2', '0x2', '', null, true, 4_294_967_296, 1e30]) {
    yield oneRequest('ListDir', jsonCall('ListDir', { path: '/scratch/dir', depth }))
  }
  for (const path of ['/scratch/to-dir', '/scratch/dir/up', '/scratch/dir/', '/scratch//dir', 'work', '~', '', '/scratch/chain']) {
    for (const depth of [1, 2, 3]) yield oneRequest('ListDir', jsonCall('ListDir', { path, depth }))
    yield oneRequest('ListDir', protoCall('ListDir', { path, depth: 2 }))
  }
}

/** True for a path below a prepared directory, for both homes. Refuses `x/..`, because a daemon that removes it would remove the container's files. */
export function isSafeToRemove(path: string): boolean {
  if (/(^|\/)\.\.\/*$/.test(path) || path.includes('/..//')) return false
  const expanded = path.startsWith('~/') ? `/home/user/${path.slice(2)}` : path === '~' ? '/home/user/x' : posix.resolve('/home/user', path)
  return /^\/(scratch|home\/(user|other)|mnt\/other|tmp)(\/|$)/.test(posix.normalize(expanded)) && !path.includes('to-root')
}
