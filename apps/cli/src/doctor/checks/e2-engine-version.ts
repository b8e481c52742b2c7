import { compareVersions, parseVersion } from '@sandyard/runtime-docker/engine/version-number'
import { fail, ok, warn, type Check, type Finding } from '../check.ts'

const WITHOUT_LOCKUP = [20, 10, 27, Infinity] as const

export const engineVersion: Check = {
  id: 'E2',
  title: 'Engine version',
  checks: '`/version`: fails below API 1.41 (engine 20.10), warns below 20.10.27',
  why: 'Older engines lack what sandboxes need. Before 20.10.27 two containers that leave one network at once can lock the engine up (moby#46661).',
  todo: "Update the engine to the newest version of its line, from Docker's packages or those of the distribution.",
  async run({ engine }): Promise<Finding> {
    if ((await engine.answer()).kind === 'too_old')
      return fail('the engine is older than 20.10 (API 1.41): Sandyard does not start with it')
    const { Version, ApiVersion } = await engine.version()
    const version = parseVersion(Version)
    const found = `engine ${Version}, API ${ApiVersion}`
    if (version !== undefined && compareVersions(version, WITHOUT_LOCKUP) < 0) return warn(`${found}: older than 20.10.27`)
    return ok(found)
  },
}
