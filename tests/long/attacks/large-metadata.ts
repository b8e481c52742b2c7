import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { callApi } from './http-call.ts'

const MIB = 1024 ** 2
const BYTES = 10 * MIB
const TIMES = 12
const WIDTH = 6

/** Creates of sandboxes with metadata and variables far above their caps: one large value, and a million short ones. */
export const largeMetadata: Attack = {
  name: '10 MiB of metadata',
  async run(target, signal) {
    const bytes = scaled(target, BYTES)
    const times = scaled(target, TIMES)
    const pairs = Array.from({ length: Math.ceil(bytes / 12) }, (_, n) => `"k${n}":""`).join(',')
    const bodies = [
      `{"templateID":"base","metadata":{"a":"${'x'.repeat(bytes)}"}}`,
      `{"templateID":"base","metadata":{${pairs}}}`,
      `{"templateID":"base","envVars":{"A":"${'x'.repeat(bytes)}"}}`,
    ]
    const send = async (index: number): Promise<string> =>
      (await callApi(target, 'POST /v2/sandboxes', bodies[index % bodies.length], signal)).status
    const statuses = await runMany({ count: times * bodies.length, width: WIDTH }, send, signal)
    const wrong = statuses.filter((status) => !/^4\d\d$/.test(status) && status !== '503')
    return {
      sent: `${times * bodies.length} creates with ${(bytes / MIB).toFixed(1)} MiB of metadata or variables, ${WIDTH} at a time`,
      observed: countEach(statuses),
      ...(wrong.length > 0 && { faults: [`answers that refuse nothing: ${countEach(wrong)}`] }),
    }
  },
}
