import { countEach, runMany, scaled, type Attack, type Target } from './attack.ts'
import { callAsUser } from './http-call.ts'

const KIB = 1024
const TIMES = 8
const WIDTH = 4

/** Dockerfiles of the maximum size that take long in a parser that reads text repeatedly. None can be registered. */
export const slowDockerfiles: Attack = {
  name: 'slow Dockerfiles',
  async run(target, signal) {
    if (target.accessToken === undefined) return { sent: 'nothing', observed: 'no access token' }
    const count = scaled(target, TIMES)
    const observed: string[] = []
    const faults: string[] = []
    for (const [name, dockerfile] of Object.entries(dockerfilesOf())) {
      const statuses = await runMany({ count, width: WIDTH }, () => register(target, dockerfile, signal), signal)
      observed.push(`${name} ${countEach(statuses)}`)
      if (statuses.some((status) => !/^4\d\d$/.test(status) && status !== '503')) faults.push(`${name} got ${countEach(statuses)}`)
    }
    return { sent: `${count} Dockerfiles of 250 KiB of each kind, ${WIDTH} at a time`, observed: observed.join('; '), faults }
  },
}

/** The alias is invalid, so that nothing is stored if a Dockerfile is accepted. */
async function register(target: Target, dockerfile: string, signal: AbortSignal): Promise<string> {
  return (await callAsUser(target, 'POST /templates', { dockerfile, alias: 'A B' }, signal)).status
}

function dockerfilesOf(): Readonly<Record<string, string>> {
  const fill = (text: string): string => text.repeat(Math.floor((250 * KIB) / text.length))
  return {
    'escaped quotes': `FROM a\n${`RUN ${String.raw`\"`.repeat(29_000)}\n`.repeat(4)}`,
    'here-document marks': `FROM a\n${`RUN ${'<<'.repeat(29_000)}\n`.repeat(4)}`,
    'open here-documents': `FROM a\n${fill('RUN cat <<A <<B <<C\n')}`,
    'a long directive': `# escape=\\${' '.repeat(250 * KIB)}x\nFROM a`,
    'continued lines': `FROM a\nRUN ${fill('\\\n')}`,
    'comments in a continued line': `FROM a\nRUN x \\\n${fill('#\n')}`,
    'open variables': `FROM a\n${`ENV A=${'${'.repeat(29_000)}\n`.repeat(4)}`,
    'many stages': fill('FROM a AS b\n'),
    flags: `FROM a\n${`RUN ${'--a=b '.repeat(9500)}x\n`.repeat(4)}`,
  }
}
