import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { runInSandbox } from './daemon-call.ts'

const PROCESSES = 10_000
const WIDTH = 32
/** After this time no more processes are started. */
const DEADLINE_MS = 45_000

/** Many starts of short processes, several at once; a few processes have much output. */
export const manyProcesses: Attack = {
  name: '10,000 processes',
  async run(target, signal) {
    const count = scaled(target, PROCESSES)
    const startedAt = performance.now()
    const start = async (index: number): Promise<string> =>
      await runInSandbox(target, index % 100 === 0 ? 'head -c 1000000 /dev/zero' : ':', signal)
    const stop = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])
    const ends = await runMany({ count, width: WIDTH }, start, stop)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const wrong = ends.filter((end) => end !== 'exit status 0')
    return {
      sent: `${ends.length} of ${count} processes in ${seconds} s, ${WIDTH} at a time`,
      observed: countEach(ends),
      ...(wrong.length > 0 && { faults: [`ends other than exit status 0: ${countEach(wrong)}`] }),
    }
  },
}
