import { ok, warn, type Check, type Finding } from '../check.ts'
import { requireEngineHost } from '../facts/facts.ts'
import { sysctlCommand } from '../sysctl.ts'

const TERMINALS_PER_SANDBOX = 64

export const terminals: Check = {
  id: 'K4',
  title: 'Terminals',
  checks: '`kernel.pty.max` less `kernel.pty.nr`: fewer than 64 for each possible sandbox warn',
  why: 'All sandboxes share the terminals of the kernel: one that opens many leaves none for the others.',
  todo: 'Raise kernel.pty.max.',
  async run(facts): Promise<Finding> {
    await requireEngineHost(facts)
    const max = facts.host.number('proc/sys/kernel/pty/max')
    const used = facts.host.number('proc/sys/kernel/pty/nr')
    const { maxSandboxes } = facts.settings
    const needed = maxSandboxes * TERMINALS_PER_SANDBOX
    const found = `${max - used} of ${max} terminals are free; ${maxSandboxes} sandboxes may want ${needed}`
    if (max - used >= needed) return ok(found)
    return warn(found, { commands: [sysctlCommand('K4', { 'kernel.pty.max': needed + used })] })
  },
}
