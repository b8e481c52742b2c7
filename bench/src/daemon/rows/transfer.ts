import type { Goal } from '../../goal.ts'
import { download, upload } from '../../http-call.ts'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'
import type { Bench } from '../bench.ts'
import { compare } from '../compare.ts'

const MIB = 64
const BOUNDARY = 'sandyard-bench-boundary'
const BEFORE = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\nContent-Type: application/octet-stream\r\n\r\n`
const MULTIPART = {
  headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  before: BEFORE,
  after: `\r\n--${BOUNDARY}--\r\n`,
}
/** Half of the throughput, as a time (design.md 5). */
const HALF_AS_FAST: Goal = { of: 'ratio', at: ['p50'], atMost: 2 }
const REPEAT = { times: 15, warmUps: 2, countCpu: true }

/** Uploads a large file with both kinds of body and downloads it, as plain requests: the SDK itself costs much more here than the daemon. */
export async function benchTransfer({ daemons, bare }: Bench): Promise<Comparison[]> {
  const file = (origin: string): URL => new URL('/files?path=/tmp/large&username=user', origin)
  const copy = new URL('/copy', bare.origin)
  const beside = (work: () => Promise<void>) => [{ name: 'bare node:http', goal: HALF_AS_FAST, work: () => timeMs(work) }]
  return [
    ...(await compare(
      daemons,
      { what: `upload of ${MIB} MiB, octet-stream`, beside: beside(() => upload({ url: copy, mib: MIB })), ...REPEAT },
      ({ origin }) => timeMs(() => upload({ url: file(origin), mib: MIB })),
    )),
    ...(await compare(
      daemons,
      { what: `upload of ${MIB} MiB, multipart`, beside: beside(() => upload({ url: copy, mib: MIB })), ...REPEAT },
      ({ origin }) => timeMs(() => upload({ url: file(origin), mib: MIB, ...MULTIPART })),
    )),
    ...(await compare(
      daemons,
      { what: `download of ${MIB} MiB`, beside: beside(() => download({ url: copy, mib: MIB })), ...REPEAT },
      ({ origin }) => timeMs(() => download({ url: file(origin), mib: MIB })),
    )),
  ]
}
