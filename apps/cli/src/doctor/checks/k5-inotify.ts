import { ok, warn, type Check, type Finding } from '../check.ts'
import { requireEngineHost } from '../facts/facts.ts'
import { sysctlCommand } from '../sysctl.ts'

/** What the programs of the host have open. */
const OTHERS = 64
/** So that raising it is not needed again soon. */
const ROOMY = 8192

export const inotify: Check = {
  id: 'K5',
  title: 'inotify',
  checks: '`fs.inotify.max_user_instances`: under the possible sandboxes + 64 warns',
  why: 'Each daemon in a sandbox opens one instance, and all containers share the limit of one user: then watching directories fails in new sandboxes.',
  todo: 'Raise fs.inotify.max_user_instances.',
  async run(facts): Promise<Finding> {
    await requireEngineHost(facts)
    const instances = facts.host.number('proc/sys/fs/inotify/max_user_instances')
    const needed = facts.settings.maxSandboxes + OTHERS
    if (instances >= needed) return ok(`${instances} instances for ${facts.settings.maxSandboxes} possible sandboxes`)
    const commands = [sysctlCommand('K5', { 'fs.inotify.max_user_instances': Math.max(ROOMY, needed) })]
    return warn(`${instances} instances; ${facts.settings.maxSandboxes} possible sandboxes and the host need ${needed}`, { commands })
  },
}
