import { gzipSync } from 'node:zlib'
import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { BOUNDARY, filePart, multipart, upload, uploadForm } from '../wire/files.ts'
import { mayBlock, PATHS } from './paths.ts'

const AREA = 'POST /files'
const NEW = '/scratch/new.txt'
const TYPES = [
  [
    'application/octet-stream',
    'APPLICATION/OCTET-STREAM',
    'application/octet-stream; charset=x',
    'application/octet-stream;',
    'application/octet-stream; =',
  ],
  [
    'application/octet-stream ',
    ' application/octet-stream',
    'application/octet-stream, text/plain',
    'application/octet-streams',
    'octet-stream',
    '/',
    '',
  ],
  [
    'text/plain',
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary',
  ],
  [`multipart/form-data; boundary="${BOUNDARY}"`, `multipart/form-data;boundary=${BOUNDARY}`, `Multipart/Form-Data; Boundary=${BOUNDARY}`],
  [
    `multipart/mixed; boundary=${BOUNDARY}`,
    `multipart/related; boundary=${BOUNDARY}`,
    `multipart/x; boundary=${BOUNDARY}`,
    `multipart; boundary=${BOUNDARY}`,
  ],
  [
    `multipart/form-data; boundary=${BOUNDARY}; boundary=other`,
    `multipart/form-data; charset=utf-8; boundary=${BOUNDARY}`,
    `multipart/form-data boundary=${BOUNDARY}`,
  ],
  [
    `multipart/form-data; boundary=${BOUNDARY};`,
    `multipart/form-data; boundary=${BOUNDARY}; x`,
    `multipart/form-data; boundary*=utf-8''${BOUNDARY}`,
    'multipart/form-data; boundary=other',
  ],
].flat()
const CONTENT_ENCODINGS = [
  'gzip',
  'GZIP',
  'gzip;q=1',
  'gzip; x',
  ' gzip ',
  'gzip, gzip',
  'gzip,identity',
  'identity',
  'IDENTITY',
  '',
  'x-gzip',
  'deflate',
  'br',
  'zstd',
  'aws-chunked',
  ';',
  ';gzip',
]

function gzipBodies(): Buffer[] {
  const zipped = gzipSync('content that was compressed')
  const large = gzipSync(Buffer.alloc(200_000, 'abcdefgh'))
  return [
    [
      zipped,
      large,
      Buffer.concat([zipped, gzipSync(' and more')]),
      Buffer.concat([zipped, Buffer.from('junk')]),
      Buffer.concat([zipped, Buffer.alloc(20)]),
    ],
    [
      zipped.subarray(0, 1),
      zipped.subarray(0, 9),
      zipped.subarray(0, 10),
      zipped.subarray(0, 15),
      zipped.subarray(0, -1),
      zipped.subarray(0, -8),
    ],
    [large.subarray(0, -100), Buffer.alloc(0), Buffer.from('plain'), Buffer.from('\x1f\x8b plain', 'latin1'), gzipSync('')],
    [
      Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(4), zipped.subarray(-4)]),
      Buffer.concat([zipped.subarray(0, -4), Buffer.alloc(4)]),
    ],
  ].flat()
}

/** Uploads of raw bodies. */
export function* uploadScenarios(): Generator<Scenario> {
  for (const path of PATHS) {
    yield oneRequest(AREA, { ...upload({ path }, 'uploaded'), ...(mayBlock(path) ? { waitMs: 300 } : {}) })
  }
  for (const path of ['file.txt', 'new/deep/er.txt', '~/new.txt', '']) {
    for (const username of ['user', 'other', 'root', 'missing', '']) yield oneRequest(AREA, upload({ path, username }, 'x'))
  }
  for (const type of TYPES) {
    yield oneRequest(AREA, upload({ path: NEW }, multipart([filePart('ignored', 'in a form')]), [['Content-Type', type]]))
    yield oneRequest(AREA, upload({}, multipart([filePart(NEW, 'in a form')]), [['Content-Type', type]]))
  }
  yield oneRequest(AREA, { method: 'POST', target: `/files?path=${NEW}`, headers: [], body: Buffer.from('no type') })
  for (const body of [Buffer.alloc(0), Buffer.alloc(1_000_000, 'x'), Buffer.from([0, 255, 10, 13])])
    yield oneRequest(AREA, upload({ path: NEW }, body))
  for (const encoding of CONTENT_ENCODINGS) {
    for (const body of [gzipSync('zipped'), Buffer.from('plain')])
      yield oneRequest(AREA, upload({ path: NEW }, body, [['Content-Encoding', encoding]]))
  }
  for (const body of gzipBodies()) {
    yield oneRequest(AREA, upload({ path: NEW }, body, [['Content-Encoding', 'gzip']]))
    yield oneRequest(AREA, upload({ path: '/scratch/file.txt' }, body, [['Content-Encoding', 'gzip']]))
  }
  const form = gzipSync(multipart([filePart(NEW, 'in a form'), filePart('b', 'second')]))
  yield oneRequest(AREA, uploadForm({}, form, [['Content-Encoding', 'gzip']]))
  yield oneRequest(AREA, uploadForm({}, form.subarray(0, -10), [['Content-Encoding', 'gzip']]))
  yield* framingScenarios()
}

/** The length and the coding of the body itself. */
function* framingScenarios(): Generator<Scenario> {
  const chunked: WireRequest['headers'] = [['Transfer-Encoding', 'chunked']]
  for (const body of [
    '5\r\nhello\r\n0\r\n\r\n',
    '5;x=y\r\nhello\r\n0\r\n\r\n',
    '5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n',
    '0\r\n\r\n',
    '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
  ]) {
    yield oneRequest(AREA, upload({ path: NEW }, body, chunked))
  }
  for (const body of ['5\r\nhel', '5\r\nhello\r\n']) yield oneRequest(AREA, { ...upload({ path: NEW }, body, chunked), cut: true })
  yield oneRequest(AREA, { ...upload({ path: NEW }, 'short', [['Content-Length', '10']]), cut: true })
  yield oneRequest(AREA, upload({ path: NEW }, 'longer than said', [['Content-Length', '6']]))
  yield oneRequest(AREA, upload({ path: NEW }, 'waits', [['Expect', '100-continue']]))
}
