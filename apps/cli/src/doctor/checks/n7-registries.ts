import { ok, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'

const PUBLIC = 'docker.io'
const EVERY_PUBLIC_ONE = '*'
const IMAGE = 'library/debian:bookworm-slim'
/** An image may be absent or closed to us; the registry has answered all the same. */
const ANSWERED = /unauthorized|denied|authentication required|manifest unknown|name unknown|not found|does not exist/i
const NO_NAME = /no such host|lookup /i

export const registries: Check = {
  id: 'N7',
  title: 'Registries',
  checks: 'a manifest by way of the engine from each registry of `SANDYARD_REGISTRIES` (docker.io for `*`): one that does not answer warns',
  why: 'Builds from images of that registry fail. Builds from templates and sandboxes work.',
  todo: 'Open the way from the engine to the registry, give the engine its HTTP proxy (systemctl edit docker), or mirror the images.',
  async run(facts): Promise<Finding> {
    const listed = facts.settings.registries.map((registry) => (registry === EVERY_PUBLIC_ONE ? PUBLIC : registry))
    const all = [...new Set(listed.length === 0 ? [PUBLIC] : listed)]
    return worstOf(await Promise.all(all.map((registry) => ask(facts, registry))), `${all.join(', ')} answered`)
  },
}

async function ask({ engine }: Facts, registry: string): Promise<Finding> {
  const docker = await engine.docker()
  try {
    await docker.getImage(`${registry}/${IMAGE}`).distribution()
    return ok(`${registry} answered`)
  } catch (err) {
    const { message } = err as Error
    if (ANSWERED.test(message) && !NO_NAME.test(message)) return ok(`${registry} answered`)
    return warn(`${registry} does not answer the engine: ${message.slice(0, 160)}`)
  }
}
