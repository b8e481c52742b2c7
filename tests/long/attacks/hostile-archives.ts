import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { countEach, runMany, scaled, type Attack, type Target } from './attack.ts'
import { withTemplate, type Registered } from './attack-builds.ts'
import { call, callApi, fieldsOf } from './http-call.ts'
import { TAR_END, tarEntry } from './tar-entry.ts'

const MIB = 1024 ** 2
const EMPTY_FILES = 200_000
/** Zeros, about 4 MiB after gzip. */
const BOMB_MIB = 4096
const TIMES = 2
const WIDTH = 4
/** Valid archives: a large one, and one with an entry below a link, which is skipped. */
const TAKEN: ReadonlySet<string> = new Set(['many files', 'zeros', 'a link, then a file through it'])

/** Archives for COPY that are large when unpacked, that have entries outside of their directory, or that are malformed. */
export const hostileArchives: Attack = {
  name: 'archives',
  async run(target, signal) {
    const count = scaled(target, TIMES)
    const observed: string[] = []
    const faults: string[] = []
    await withTemplate(
      target,
      async (made) => {
        for (const [name, archive] of Object.entries(archivesOf(target))) {
          const statuses = await runMany({ count, width: WIDTH }, () => upload(target, made, archive, signal), signal)
          observed.push(`${name} ${countEach(statuses)}`)
          const right = TAKEN.has(name) ? /^(200|4\d\d)$/ : /^4\d\d$/
          if (statuses.some((status) => !right.test(status))) faults.push(`${name} got ${countEach(statuses)}`)
        }
      },
      signal,
    )
    return { sent: `${count} uploads of each kind, ${WIDTH} at a time`, observed: observed.join('; '), faults }
  },
}

async function upload(target: Target, { templateId }: Registered, archive: Buffer, signal: AbortSignal): Promise<string> {
  const hash = randomBytes(32).toString('hex')
  const answer = await callApi(target, `GET /templates/${templateId}/files/${hash}`, undefined, signal)
  const { url } = fieldsOf(answer)
  if (typeof url !== 'string') return `link ${answer.status}`
  return (await call(url, { method: 'PUT', body: archive, headers: { 'Content-Type': 'application/octet-stream' } }, signal)).status
}

function archivesOf(target: Target): Readonly<Record<string, Buffer>> {
  const packed = (parts: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...parts, TAR_END]), { level: 1 })
  const files = Array.from({ length: scaled(target, EMPTY_FILES) }, (_, n) => tarEntry(`f${n}`))
  const bombMib = scaled(target, BOMB_MIB)
  // A gzip file may consist of several concatenated members.
  const zeros = gzipSync(Buffer.alloc(64 * MIB))
  const bomb = [
    gzipSync(tarEntry('zeros', { size: Math.ceil(bombMib / 64) * 64 * MIB })),
    ...Array(Math.ceil(bombMib / 64)).fill(zeros),
    gzipSync(TAR_END),
  ]
  return {
    'many files': packed(files),
    zeros: Buffer.concat(bomb),
    'a parent directory': packed([tarEntry('../../../../etc/cron.d/x')]),
    'a link, then a file through it': packed([tarEntry('a', { type: '2', link: '/etc' }), tarEntry('a/passwd')]),
    'a hard link outside': packed([tarEntry('a', { type: '1', link: '/etc/shadow' })]),
    'a device': packed([tarEntry('a', { type: '3' })]),
    'a name of 1 GiB': packed([tarEntry('././@LongLink', { type: 'L', size: 1024 * MIB })]),
    'attributes of 1 GiB': packed([tarEntry('a', { type: 'x', size: 1024 * MIB })]),
    'a size without an end': packed([tarEntry('a', { size: 8 * 1024 * MIB - 1 })]),
    'half an archive': packed(files.slice(0, 100)).subarray(0, 500),
    noise: randomBytes(MIB),
    nothing: Buffer.alloc(0),
  }
}
