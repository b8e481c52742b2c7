import { countEach, runMany, scaled, type Attack, type Target } from './attack.ts'
import { buildDockerfile, endOfBuild, withTemplate, type Registered } from './attack-builds.ts'
import { callApi } from './http-call.ts'

const TIMES = 4
const WIDTH = 4
/** Without a bound the last value would be 2^40 times the first one. */
const DOUBLINGS = 40
const DEADLINE_MS = 40_000

/** Builds in which each of forty variables contains the previous one twice, in build steps and in lines of a Dockerfile. */
export const doublingVariables: Attack = {
  name: 'doubling variables',
  async run(target, signal) {
    const count = scaled(target, TIMES)
    const bySteps = await runMany(
      { count, width: WIDTH },
      () => withTemplate(target, (made) => buildSteps(target, made, signal), signal),
      signal,
    )
    const dockerfile = `FROM debian:bookworm-slim\nENV V0=xxxxxxxxxxxxxxxx\n${lines((n) => `ENV V${n + 1}=$V${n}$V${n}`)}`
    const hasToken = target.accessToken !== undefined
    const byLines = hasToken
      ? await runMany({ count, width: WIDTH }, () => buildDockerfile(target, dockerfile, DEADLINE_MS, signal), signal)
      : []
    const wrong = [...bySteps, ...byLines].filter((end) => !end.startsWith('error') && !/^4\d\d$/.test(end))
    return {
      sent: `${count} builds by steps${hasToken ? `, ${count} of a Dockerfile` : ''}, ${DOUBLINGS} doublings each`,
      observed: `steps ${countEach(bySteps)}${hasToken ? `; Dockerfile ${countEach(byLines)}` : ''}`,
      ...(wrong.length > 0 && { faults: [`builds that were not refused: ${countEach(wrong)}`] }),
    }
  },
}

async function buildSteps(target: Target, made: Registered, signal: AbortSignal): Promise<string> {
  const first = { type: 'ENV', args: ['V0', 'x'.repeat(16)] }
  const steps = Array.from({ length: DOUBLINGS }, (_, n) => ({ type: 'ENV', args: [`V${n + 1}`, `$V${n}$V${n}`] }))
  const body = { fromTemplate: 'base', steps: [first, ...steps] }
  const started = await callApi(target, `POST /v2/templates/${made.templateId}/builds/${made.buildId}`, body, signal)
  return started.status === '202' ? await endOfBuild(target, made, DEADLINE_MS, signal) : started.status
}

function lines(line: (n: number) => string): string {
  return Array.from({ length: DOUBLINGS }, (_, n) => line(n)).join('\n')
}
