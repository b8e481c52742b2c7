import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { download } from '../wire/files.ts'
import { mayBlock, PATHS } from './paths.ts'

const AREA = 'GET /files'
const ENCODINGS = [
  ['', 'gzip', 'GZIP', 'x-gzip', 'gzip;q=1.0', 'gzip; q=1', 'gzip ; q = 1', 'gzip;Q=0.5', 'gzip;q=0', 'gzip;q=0.0', 'gzip;q=0.001'],
  ['gzip;q=2', 'gzip;q=-1', 'gzip;q=x', 'gzip;q=', 'gzip;q', 'gzip;x=1', 'gzip;x=1;q=0', 'gzip;q=0;q=1', 'gzip;q=NaN', 'gzip;q=Inf'],
  ['identity', 'IDENTITY', 'identity;q=0', 'identity;q=0, gzip', 'identity;q=0, *', 'identity;q=0, br', 'identity;q=0.5, gzip;q=0.4'],
  ['*', '*;q=0', '*;q=0.5', '*;q=0, gzip', '*;q=0, identity', 'gzip;q=0, *', 'gzip;q=0, *;q=0', 'br', 'br, deflate', 'br;q=1, *;q=0.1'],
  [
    'deflate, gzip, br',
    'gzip, deflate, br, zstd',
    'br;q=1.0, gzip;q=0.5',
    'gzip;q=0.5, identity;q=1.0',
    'gzip;q=0, identity',
    'gzip;q=0, br',
  ],
  ['gzip,', ',gzip', ' , ', ',,', ';', ';q=1', 'gzip;;q=0', 'gzip identity', '"gzip"', 'gzip\t', 'gzip;q=1e-3', 'gzip;q=0x1', 'gzip;q= 0'],
].flat()
const RANGES = [
  [
    'bytes=0-4',
    'bytes=0-0',
    'bytes=5-',
    'bytes=-5',
    'bytes=-0',
    'bytes=0-',
    'bytes=11-11',
    'bytes=11-12',
    'bytes=12-',
    'bytes=12-20',
    'bytes=99999-',
  ],
  [
    'bytes=-99999',
    'bytes=0-99999999999999999999',
    'bytes=99999999999999999999-',
    'bytes=4-2',
    'bytes=a-b',
    'bytes=',
    'bytes=-',
    'bytes',
    'bytes=1',
  ],
  [
    'Bytes=0-4',
    'items=0-4',
    'bytes =0-4',
    'bytes= 0-4',
    'bytes=0 - 4',
    'bytes=0-4 ',
    'bytes=+0-4',
    'bytes=0-+4',
    'bytes=--4',
    'bytes=0x0-0x4',
  ],
  [
    'bytes=0-1,3-4',
    'bytes=0-1, 3-4',
    'bytes=0-1,,3-4',
    'bytes=0-1,',
    ',bytes=0-1',
    'bytes=0-1,99999-',
    'bytes=99999-,0-1',
    'bytes=99999-,88888-',
  ],
  ['bytes=0-,0-', 'bytes=0-3,2-5,1-1', 'bytes=0-1,a', 'bytes=0-0,-1', 'bytes=0-5,6-11', 'bytes=0-4\t', '', 'bytes=1-2,3-4,5-6,7-8'],
].flat()
const LONG_AGO = 'Wed, 01 Jan 2020 00:00:00 GMT'
const DATES = [
  [
    LONG_AGO,
    'Tue, 31 Dec 2019 23:59:59 GMT',
    'Wed, 01 Jan 2020 00:00:01 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Fri, 01 Jan 2100 00:00:00 GMT',
  ],
  [
    'Wednesday, 01-Jan-20 00:00:00 GMT',
    'Wed Jan  1 00:00:00 2020',
    'Wed, 01 Jan 2020 00:00:00 UTC',
    'Wed, 01 Jan 2020 00:00:00 +0000',
    '2020-01-01',
  ],
  [
    'wed, 01 jan 2020 00:00:00 gmt',
    'Mon, 01 Jan 2020 00:00:00 GMT',
    'Wed, 1 Jan 2020 00:00:00 GMT',
    'Wed, 01 Jan 2020 24:00:00 GMT',
    '0',
    'x',
    '',
  ],
].flat()
const TAGS = ['*', '"x"', 'W/"x"', 'x', '"', '""', '"a", "b"', '"a", *', ' *', '* ', ',', '*, "x"', '']

function* conditions(): Generator<WireRequest['headers']> {
  for (const date of DATES) {
    yield [['If-Modified-Since', date]]
    yield [['If-Unmodified-Since', date]]
    yield [
      ['Range', 'bytes=0-4'],
      ['If-Range', date],
    ]
  }
  for (const tag of TAGS) {
    yield [['If-None-Match', tag]]
    yield [['If-Match', tag]]
    yield [
      ['Range', 'bytes=0-4'],
      ['If-Range', tag],
    ]
    yield [
      ['If-None-Match', tag],
      ['If-Modified-Since', LONG_AGO],
    ]
    yield [
      ['If-Match', tag],
      ['If-Unmodified-Since', LONG_AGO],
    ]
    yield [
      ['If-Match', tag],
      ['Accept-Encoding', 'gzip'],
    ]
  }
  for (const header of ['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since', 'If-Match', 'If-Unmodified-Since']) {
    for (const encoding of ['gzip', 'identity;q=0', 'gzip, identity;q=0', '*;q=0'])
      yield [
        [header, 'x'],
        ['Accept-Encoding', encoding],
      ]
  }
}

/** Every path, and every header that downloads read. */
export function* downloadScenarios(): Generator<Scenario> {
  for (const path of PATHS) {
    const wait = mayBlock(path) ? { waitMs: 300 } : {}
    yield oneRequest(AREA, { ...download({ path }), ...wait })
    yield oneRequest(AREA, { ...download({ path }, [['Accept-Encoding', 'gzip']]), ...wait })
  }
  for (const path of ['/scratch/large.txt', '/scratch/image.png', '/scratch/empty', '/scratch/dir', '/scratch/missing']) {
    for (const encoding of ENCODINGS) yield oneRequest(AREA, download({ path }, [['Accept-Encoding', encoding]]))
  }
  yield oneRequest(
    AREA,
    download({ path: '/scratch/file.txt' }, [
      ['Accept-Encoding', 'br'],
      ['Accept-Encoding', 'gzip'],
    ]),
  )
  for (const path of ['/scratch/file.txt', '/scratch/empty', '/scratch/noext-png', '/scratch/page.html']) {
    for (const range of RANGES) yield oneRequest(AREA, download({ path }, [['Range', range]]))
  }
  for (const path of ['/scratch/file.txt', '/scratch/epoch', '/scratch/later']) {
    for (const headers of conditions()) yield oneRequest(AREA, download({ path }, headers))
  }
  for (const name of [
    '/proc/version',
    '/proc/self/cmdline',
    '/proc/sys/kernel/ostype',
    '/sys/kernel/mm/transparent_hugepage/enabled',
    '/proc/1/root/scratch/file.txt',
  ]) {
    if (!name.includes('self')) yield oneRequest(AREA, download({ path: name }))
    if (!name.includes('self')) yield oneRequest(AREA, download({ path: name }, [['Accept-Encoding', 'gzip']]))
  }
}
