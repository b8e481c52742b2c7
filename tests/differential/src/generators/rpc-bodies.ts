import { gzipSync } from 'node:zlib'
import { oneRequest, type Scenario } from '../scenario.ts'
import { envelope } from '../wire/envelopes.ts'
import { rawCall } from '../wire/rpc-bytes.ts'

const AREA = 'protocol'
const STAT = { path: '/scratch/file.txt' }
const MISSING = { path: '/scratch/missing' }

/** Bodies of calls: compressed, cut short, too long, invalid. */
export function* rpcBodyScenarios(): Generator<Scenario> {
  yield* compressedScenarios()
  yield* streamBodyScenarios()
  yield* binaryScenarios()
}

function* compressedScenarios(): Generator<Scenario> {
  const zipped = gzipSync(JSON.stringify(STAT))
  for (const body of [
    zipped,
    zipped.subarray(0, -4),
    zipped.subarray(0, 5),
    Buffer.from('{}'),
    Buffer.alloc(0),
    Buffer.concat([zipped, Buffer.from('x')]),
    gzipSync(''),
  ]) {
    yield oneRequest(AREA, rawCall('application/json', body, [['Content-Encoding', 'gzip']]))
    for (const flags of [0, 1, 2, 3, 4, 128]) {
      yield oneRequest(AREA, rawCall('application/connect+json', envelope(body, flags), [['Connect-Content-Encoding', 'gzip']], 'WatchDir'))
    }
  }
  yield oneRequest(
    AREA,
    rawCall('application/connect+json', envelope(gzipSync(JSON.stringify(MISSING)), 1), [['Connect-Content-Encoding', 'gzip']], 'WatchDir'),
  )
  yield oneRequest(AREA, rawCall('application/connect+json', envelope(gzipSync(JSON.stringify(MISSING)), 1), [], 'WatchDir'))
}

function* streamBodyScenarios(): Generator<Scenario> {
  const message = envelope(Buffer.from(JSON.stringify(MISSING)))
  const tooLong = Buffer.from([0, 0xff, 0xff, 0xff, 0xff])
  const bodies = [
    [
      Buffer.alloc(0),
      message.subarray(0, 3),
      message.subarray(0, 5),
      message.subarray(0, -1),
      Buffer.concat([message, message]),
      Buffer.concat([message, Buffer.from('x')]),
    ],
    [
      envelope(Buffer.alloc(0)),
      envelope(Buffer.from('{}'), 2),
      Buffer.concat([message, envelope(Buffer.from('{}'), 2)]),
      tooLong,
      Buffer.from(JSON.stringify(MISSING)),
    ],
  ].flat()
  for (const body of bodies) {
    yield oneRequest(AREA, rawCall('application/connect+json', body, [], 'WatchDir'))
    yield oneRequest(AREA, rawCall('application/connect+proto', body, [], 'WatchDir'))
  }
}

/** Binary messages: unknown fields, wrong wire types, truncated messages. */
function* binaryScenarios(): Generator<Scenario> {
  const path = Buffer.from('/scratch/file.txt')
  const field = Buffer.concat([Buffer.from([0x0a, path.length]), path])
  const bodies = [
    [
      Buffer.alloc(0),
      field,
      Buffer.concat([field, field]),
      Buffer.concat([field, Buffer.from([0x78, 0x01])]),
      field.subarray(0, -1),
      Buffer.from([0x0a]),
      Buffer.from([0x08, 0x01]),
    ],
    [
      Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      Buffer.from([0x0b]),
      Buffer.from([0x0c]),
      Buffer.from([0x00, 0x00]),
      Buffer.from([0x0a, 0x02, 0xc3, 0x28]),
      Buffer.from([0x0f, 1]),
    ],
    [Buffer.concat([field, Buffer.from([0x12, 0x02, 1, 2])]), Buffer.from('{"path":"/scratch/file.txt"}'), Buffer.alloc(11, 0xff)],
  ].flat()
  for (const body of bodies) yield oneRequest(AREA, rawCall('application/proto', body))
}
