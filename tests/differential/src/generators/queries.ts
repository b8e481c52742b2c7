import { oneRequest, type Scenario } from '../scenario.ts'
import type { WireRequest } from '../wire/exchange.ts'

/** Queries, as the text after the `?` of the request line. */
const QUERIES = [
  ['path=/scratch/raw/caf%E9.txt', 'path=/scratch/raw/%FF%FE', 'path=/scratch/raw/caf%e9.txt', 'path=/scratch/raw/caf%C3%A9.txt'],
  ['path=/scratch/file%2Etxt', 'path=%2Fscratch%2Ffile.txt', 'path=/scratch/my+document.pdf', 'path=/scratch/plus+name.txt'],
  ['path=/scratch/plus%2Bname.txt', 'path=/scratch/percent%41.txt', 'path=/scratch/percent%2541.txt', 'path=/scratch/semi;colon=a,b.txt'],
  [
    'path=/scratch/semi%3Bcolon%3Da,b.txt',
    'path=/scratch/file.txt;x=1',
    'path=/scratch/%zz',
    'path=/scratch/%',
    'path=/scratch/%2',
    'path=%00',
  ],
  [
    'path=/scratch/file.txt&path=/scratch/empty',
    'path&path',
    'path=/scratch/file.txt&path',
    'username=root&username=user&path=/scratch/file.txt',
  ],
  ['path=/scratch/file.txt&signature=a&signature=b', 'path=/scratch/file.txt&signature_expiration=1&signature_expiration=2'],
  [
    'path=/scratch/file.txt&signature_expiration=x',
    'path=/scratch/file.txt&signature_expiration=',
    'path=/scratch/file.txt&signature_expiration=1.5',
  ],
  [
    'path=/scratch/file.txt&signature_expiration=-1',
    'path=/scratch/file.txt&signature_expiration=%2B1',
    'path=/scratch/file.txt&signature_expiration=0x10',
  ],
  ['path=/scratch/file.txt&signature_expiration=99999999999999999999', 'path=/scratch/file.txt&signature_expiration=1e3'],
  [
    'path=/scratch/file.txt&signature_expiration=%201',
    'path=/scratch/file.txt&signature_expiration',
    'path=/scratch/file.txt&signature_expiration=010',
  ],
  [
    'path=/scratch/file.txt&unknown=1',
    'PATH=/scratch/file.txt',
    'path[]=/scratch/file.txt',
    'path[0]=/scratch/file.txt',
    'path.x=1',
    '',
    '&',
    '&&=&',
    '=',
  ],
  [
    'path=',
    'path',
    'path==',
    '=path',
    '?path=/scratch/file.txt',
    'path=/scratch/file.txt?',
    'path=/scratch/file.txt#x',
    'path=/scratch/file.txt%23x',
  ],
  [
    '%70ath=/scratch/file.txt',
    'path=file.txt&username=user',
    'path=file.txt&username=root',
    'path=file.txt&username=other',
    'path=file.txt&username=',
  ],
  [
    'path=file.txt&username',
    'path=file.txt&username=nobody',
    'path=file.txt&username=daemon',
    'path=file.txt&username=missing',
    'path=file.txt&username=0',
  ],
  ['path=file.txt&username=1000', 'path=file.txt&username=user%00', 'path=file.txt&username=USER', 'path=file.txt&username=user:user'],
  [
    'path=file.txt&username=user%20',
    'path=file.txt&username=..',
    'path=file.txt&username=%27',
    'path=file.txt&username=a%0Ab',
    'path=file.txt&username=%FF',
  ],
  [
    'path=~&username=other',
    'path=~/file.txt&username=user',
    'path=~user&username=user',
    'path=&username=user',
    'username=user',
    'username=missing',
  ],
].flat()

/** The query on both file routes. */
export function* queryScenarios(): Generator<Scenario> {
  for (const query of QUERIES) {
    yield oneRequest('query', { method: 'GET', target: `/files?${query}`, headers: [] })
    const headers: WireRequest['headers'] = [['Content-Type', 'application/octet-stream']]
    yield oneRequest('query', { method: 'POST', target: `/files?${query}`, headers, body: Buffer.from('uploaded') })
  }
}
