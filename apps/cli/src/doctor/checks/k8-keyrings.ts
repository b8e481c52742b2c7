import { ok, warn, type Check, type Finding } from '../check.ts'
import { requireEngineHost } from '../facts/facts.ts'
import { sysctlCommand } from '../sysctl.ts'

/** What the programs of the host hold. */
const OTHERS = 64

export const keyrings: Check = {
  id: 'K8',
  title: 'Keyrings',
  checks: '`kernel.keys.maxkeys` where the engine is rootless or remaps users: under the possible sandboxes + 64 warns',
  why: 'Each container takes a keyring of the user that runs it. Root has a limit of its own; another user has 200 keys, and starts fail when they are used up.',
  todo: 'Raise kernel.keys.maxkeys (and kernel.keys.maxbytes with it).',
  async run(facts): Promise<Finding> {
    const options = (await facts.engine.info()).SecurityOptions ?? []
    const mode = options.map((option) => option.split(',')[0]).find((name) => name === 'name=rootless' || name === 'name=userns')
    if (mode === undefined) return ok('the engine runs as root and does not remap users')
    await requireEngineHost(facts)
    const keys = facts.host.number('proc/sys/kernel/keys/maxkeys')
    const needed = facts.settings.maxSandboxes + OTHERS
    const found = `${mode.replace('name=', '')} engine, ${keys} keys for ${facts.settings.maxSandboxes} possible sandboxes`
    if (keys >= needed) return ok(found)
    return warn(found, { commands: [sysctlCommand('K8', { 'kernel.keys.maxkeys': needed, 'kernel.keys.maxbytes': needed * 100 })] })
  },
}
