import { download } from '../http-call.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { openWays, type Way } from '../whole-path.ts'

const SIZES_MIB = [1, 64]
const FOLDER = '/tmp'
const TIMES: Readonly<Record<number, number>> = { 1: 60, 64: 12 }

/** Files out of a sandbox through the proxy, identity encoding, compared with the other daemon directly. */
export async function benchDownloads(settings: Settings): Promise<Comparison[]> {
  await using ways = await openWays(settings)
  const { ours, other, relayed } = ways
  const comparisons: Comparison[] = []
  for (const mib of SIZES_MIB) {
    const path = `${FOLDER}/bench-${mib}`
    for (const { sandbox } of new Set([ours, other])) await sandbox.commands.run(`head -c ${mib}M /dev/urandom > ${path}`)
    const rate = async ({ origin, headers }: Way): Promise<number> => {
      const url = new URL(`/files?path=${path}&username=user`, origin)
      return mib / ((await timeMs(() => download({ url, headers, mib }))) / 1000)
    }
    const samples = await interleave({ times: TIMES[mib] ?? 1, warmUps: 2 }, { ours: () => rate(ours), other: () => rate(other) })
    comparisons.push({
      what: `download of ${mib} MiB through the whole path`,
      unit: 'MiB/s',
      ours: samples.ours,
      against: { name: other.name, samples: samples.other },
      goal: settings.reference === undefined ? undefined : { of: 'ratio', at: ['p50'], atLeast: 0.8 },
    })
    if (relayed === undefined) continue
    const relay = await interleave({ times: TIMES[mib] ?? 1, warmUps: 2 }, { relay: () => rate(relayed), other: () => rate(other) })
    comparisons.push({
      what: `download of ${mib} MiB through a relay of bytes to the other daemon`,
      unit: 'MiB/s',
      ours: relay.relay,
      against: { name: other.name, samples: relay.other },
    })
  }
  return comparisons
}
