import { setMaxListeners } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiPipelining } from '../long/attacks/api-pipelining.ts'
import { type Attack, onApi } from '../long/attacks/attack.ts'
import { doublingVariables } from '../long/attacks/doubling-variables.ts'
import { halfOpen } from '../long/attacks/half-open.ts'
import { hostileArchives } from '../long/attacks/hostile-archives.ts'
import { openHostileSandbox, type HostileSandbox } from '../long/attacks/hostile-sandbox.ts'
import { interimFlood } from '../long/attacks/interim-flood.ts'
import { jsonBodies } from '../long/attacks/json-bodies.ts'
import { largeHeads } from '../long/attacks/large-heads.ts'
import { largeMetadata } from '../long/attacks/large-metadata.ts'
import { manyProcesses } from '../long/attacks/many-processes.ts'
import { askLikeNeighbour } from '../long/attacks/neighbour.ts'
import { pipelining } from '../long/attacks/pipelining.ts'
import { slowBodies } from '../long/attacks/slow-bodies.ts'
import { slowDockerfiles } from '../long/attacks/slow-dockerfiles.ts'
import { slowReaders } from '../long/attacks/slow-readers.ts'
import { slowWriters } from '../long/attacks/slow-writers.ts'
import { unknownIds } from '../long/attacks/unknown-ids.ts'
import { unknownSandboxes } from '../long/attacks/unknown-sandboxes.ts'
import { watchers } from '../long/attacks/watchers.ts'
import { wrongKeys } from '../long/attacks/wrong-keys.ts'
import { fromEnvironment, server } from './support/server.ts'

/** Of the counts of `npm run long:hostile`, which also says what the attacks cost. */
const SCALE = 0.02
const DEADLINE_MS = 60_000

let attacked: HostileSandbox
let neighbour: HostileSandbox

beforeAll(async () => {
  const { apiUrl, sandboxUrl, apiKey } = server
  const target = { apiUrl, apiKey, proxyUrl: sandboxUrl, accessToken: fromEnvironment('E2B_ACCESS_TOKEN'), scale: SCALE }
  ;[attacked, neighbour] = await Promise.all([openHostileSandbox(target), openHostileSandbox(target)])
})
afterAll(async () => {
  await attacked[Symbol.asyncDispose]()
  await neighbour[Symbol.asyncDispose]()
})

describe('under attack the server answers its neighbours', () => {
  test.each<[string, Attack, RegExp]>([
    ['[proxy header form] floods of interim answers', interimFlood, /readers got 502: 1$/],
    ['[proxy header form] pipelined requests', pipelining, /^60 answers in .*, 1 at once in the service$/],
    ['[GET /health] pipelined requests', apiPipelining, /^60 of 60 answers in .* the last ones 200: 1$/],
    ['[proxy header form] half-open connections', halfOpen, /^8 open after .* none: 12$/],
    ['[GET /health] half-open connections', onApi(halfOpen), /^8 open after .* none: 8, 404: 4$/],
    ['[proxy header form] slow writers', slowWriters, /^200: 2$/],
    ['[POST /v2/sandboxes] bodies byte by byte', slowBodies, /^2 still open; 400: 2, none: 2$/],
    ['[proxy header form] slow readers', slowReaders, /^the services could write /],
    ['[proxy header form] heads at their limit', largeHeads, /60 KiB 200: 1; .* 200: 1; .* 431: 1; .* 431: 1$/],
    ['[GET /health] heads above their limit', onApi(largeHeads), /60 KiB 431: 1; .* 431: 1; .* 431: 1; .* 431: 1$/],
    ['[proxy header form] unknown sandboxes', unknownSandboxes, /^200 answers in .*, the last ones 502: 50$/],
    ['[GET /sandboxes/{sandboxID}] unknown ids', unknownIds, /^404: 80$/],
    ['[GET /v2/sandboxes] wrong keys', wrongKeys, /^control plane 401: 100; daemon 401: 40$/],
    ['[POST /v2/sandboxes] large metadata', largeMetadata, /^400: 3$/],
    ['[POST /v2/sandboxes] deep and wide JSON', jsonBodies, /^nested arrays 400: 1; nested objects 400: 1; /],
    ['[POST /templates] slow Dockerfiles', slowDockerfiles, /^escaped quotes 400: 1; /],
    [
      '[POST /v2/templates/{templateID}/builds/{buildID}] doubling variables',
      doublingVariables,
      /^steps error, .*64 KiB.*: 1; Dockerfile error, .*too large.*: 1$/,
    ],
    ['[PUT /uploads/{teamID}/{hash}] archives', hostileArchives, /a parent directory 400: 1; .* nothing 400: 1$/],
    ['[filesystem.Filesystem/CreateWatcher] watchers', watchers, /^created 200: 22; files exit status 0; removed 200: 22$/],
    ['[process.Process/Start] processes', manyProcesses, /^exit status 0: 200$/],
  ])('%s', async (_, attack, observed) => {
    const signal = AbortSignal.timeout(DEADLINE_MS)
    setMaxListeners(0, signal)
    const over = new AbortController()
    const served = askLikeNeighbour(neighbour.target, DEADLINE_MS, over.signal)
    try {
      const result = await attack.run(attacked.target, signal)
      expect(result.observed).toMatch(observed)
      expect(result.faults ?? []).toEqual([])
    } finally {
      over.abort()
    }
    expect((await served).flatMap(({ failures }) => failures)).toEqual([])
  })
})
