import { apiPipelining } from './api-pipelining.ts'
import { type Attack, onApi } from './attack.ts'
import { doublingVariables } from './doubling-variables.ts'
import { forkBombs } from './fork-bombs.ts'
import { halfOpen } from './half-open.ts'
import { hostileArchives } from './hostile-archives.ts'
import { interimFlood } from './interim-flood.ts'
import { jsonBodies } from './json-bodies.ts'
import { largeHeads } from './large-heads.ts'
import { largeMetadata } from './large-metadata.ts'
import { manyProcesses } from './many-processes.ts'
import { pipelining } from './pipelining.ts'
import { slowBodies } from './slow-bodies.ts'
import { slowDockerfiles } from './slow-dockerfiles.ts'
import { slowReaders } from './slow-readers.ts'
import { slowWriters } from './slow-writers.ts'
import { unknownIds } from './unknown-ids.ts'
import { unknownSandboxes } from './unknown-sandboxes.ts'
import { watchers } from './watchers.ts'
import { wrongKeys } from './wrong-keys.ts'

/** The attacks in the order of the drill. */
export const ATTACKS: readonly Attack[] = [
  interimFlood,
  pipelining,
  apiPipelining,
  halfOpen,
  onApi(halfOpen),
  slowWriters,
  slowBodies,
  slowReaders,
  largeHeads,
  onApi(largeHeads),
  unknownSandboxes,
  unknownIds,
  wrongKeys,
  largeMetadata,
  jsonBodies,
  slowDockerfiles,
  doublingVariables,
  hostileArchives,
  watchers,
  manyProcesses,
  ...forkBombs,
]
