import type { Random } from '../random.ts'
import type { Scenario, Step } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { download, filePart, multipart, upload, uploadForm } from '../wire/files.ts'
import { basic, jsonCall, protoCall } from '../wire/rpc.ts'
import { compose } from './composes.ts'
import { ODD, mayBlock, PRESENT } from './paths.ts'
import { isSafeToRemove } from './single-paths.ts'

/** The number of requests in a sequence. */
const LENGTH = 12
const NAMES = ['a', 'B', 'c d', 'é', 'deep/er', 'file.txt', '..', '.', '', 'x.png', 'dir', 'sub/deeper', 'up']
const BASES = [
  '/scratch',
  '/scratch/dir',
  '/scratch/to-dir',
  '/scratch/empty-dir',
  'work',
  '~',
  '/mnt/other',
  '/scratch/new',
  '/home/user',
  '/scratch/chain',
  '/scratch/broken',
  '/tmp',
]
const USERS = ['user', 'other', 'root', 'missing']
const HEADERS = ['gzip', 'identity', 'gzip;q=0', 'br', '*']

type Maker = (random: Random) => WireRequest

const MAKERS: readonly Maker[] = [
  (random) => jsonCall('Stat', { path: somePath(random) }, someUser(random)),
  (random) => protoCall('Stat', { path: somePath(random) }),
  (random) => jsonCall('ListDir', { path: somePath(random), depth: random.below(4) }),
  (random) => jsonCall('MakeDir', { path: somePath(random) }, someUser(random)),
  (random) => jsonCall('Move', { source: removable(random), destination: somePath(random) }, someUser(random)),
  (random) => jsonCall('Remove', { path: removable(random) }),
  (random) => download({ path: somePath(random) }, [['Accept-Encoding', random.pick(HEADERS)]]),
  (random) =>
    download({ path: somePath(random), username: random.pick(USERS) }, [['Range', `bytes=${random.below(12)}-${random.below(20)}`]]),
  (random) => upload({ path: somePath(random), username: random.pick(USERS) }, random.bytes(random.below(3000))),
  (random) => upload({ path: somePath(random) }, 'tagged', [[`X-Metadata-K${random.below(3)}`, `v${random.below(100)}`]]),
  (random) => uploadForm({}, multipart([filePart(plainPath(random), 'one'), filePart(plainPath(random), random.bytes(100))])),
  (random) =>
    compose({
      source_paths: Array.from({ length: 1 + random.below(4) }, () => removable(random)),
      destination: somePath(random),
      username: random.pick(USERS),
    }),
]

/** Sequences of random requests that build on each other. Endless. */
export function* sequenceScenarios(random: Random): Generator<Scenario> {
  while (true) {
    const steps: Step[] = Array.from({ length: LENGTH }, () => {
      const request = random.pick(MAKERS)(random)
      return { kind: 'request', request: { ...request, waitMs: 3000 } }
    })
    yield { area: 'sequences', steps }
  }
}

function somePath(random: Random): string {
  const path = random.oneIn(6) ? random.pick(ODD) : random.oneIn(3) ? random.pick(PRESENT) : plainPath(random)
  return mayBlock(path) ? '/scratch/file.txt' : path
}

function plainPath(random: Random): string {
  return `${random.pick(BASES)}/${random.pick(NAMES)}`
}

function removable(random: Random): string {
  const path = somePath(random)
  // Never removes a prepared directory itself, because later requests would have no effect.
  return isSafeToRemove(path) && path.length > '/scratch/'.length && !/^\/(mnt|home)\/[^/]*\/*\.?$/.test(path) ? path : '/scratch/dir/a'
}

function someUser(random: Random): WireRequest['headers'] {
  return random.oneIn(2) ? [] : [basic(`${random.pick(USERS)}:`)]
}
