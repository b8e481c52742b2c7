import { ok, warn, type Check, type Finding } from '../check.ts'
import { requireEngineHost } from '../facts/facts.ts'
import { sysctlCommand } from '../sysctl.ts'

/** The highest number of a process that Linux has. */
const LARGEST_PID_MAX = 4_194_304

export const processes: Check = {
  id: 'K3',
  title: 'Processes',
  checks: '`kernel.pid_max` and `kernel.threads-max` against the sandboxes of a team × `SANDYARD_PIDS_LIMIT`: fewer warn',
  why: 'All sandboxes share the numbers of processes: a few full ones leave none for the others and for the host. The usual 32,768 carries 8.',
  todo: 'Raise both parameters, or lower SANDYARD_PIDS_LIMIT or SANDYARD_MAX_SANDBOXES.',
  async run(facts): Promise<Finding> {
    await requireEngineHost(facts)
    const { pidsLimit, maxSandboxes } = facts.settings
    const limits = {
      'kernel.pid_max': facts.host.number('proc/sys/kernel/pid_max'),
      'kernel.threads-max': facts.host.number('proc/sys/kernel/threads-max'),
    }
    const needed = maxSandboxes * pidsLimit
    const found = Object.entries(limits)
      .map(([name, limit]) => `${name} ${limit} carries ${Math.floor(limit / pidsLimit)}`)
      .join(', ')
    const low = Object.entries(limits).filter(([, limit]) => limit < needed)
    if (low.length === 0) return ok(`${found} full sandboxes; ${maxSandboxes} are possible`)
    const raised = Object.fromEntries(low.map(([name]) => [name, Math.min(LARGEST_PID_MAX, needed)]))
    return warn(`${found} of ${maxSandboxes} possible full sandboxes (${pidsLimit} processes each)`, {
      commands: [sysctlCommand('K3', raised)],
    })
  },
}
