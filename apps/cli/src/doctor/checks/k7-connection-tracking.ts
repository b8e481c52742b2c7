import { ok, skipped, warn, type Check, type Finding } from '../check.ts'
import { requireEngineNetwork } from '../facts/facts.ts'
import { showPercent } from '../sizes.ts'
import { sysctlCommand } from '../sysctl.ts'

const MUCH_SHARE = 0.8

export const connectionTracking: Check = {
  id: 'K7',
  title: 'Connection tracking',
  checks: '`nf_conntrack_count` over 80 % of `nf_conntrack_max` warns',
  why: 'When the table is full the kernel drops new connections of all sandboxes and of the host.',
  todo: 'Raise net.netfilter.nf_conntrack_max, or lower SANDYARD_EGRESS_CONNECTIONS.',
  async run(facts): Promise<Finding> {
    await requireEngineNetwork(facts)
    if (facts.host.find('proc/sys/net/netfilter/nf_conntrack_max') === undefined) return skipped('the kernel does not track connections')
    const count = facts.host.number('proc/sys/net/netfilter/nf_conntrack_count')
    const max = facts.host.number('proc/sys/net/netfilter/nf_conntrack_max')
    const found = `${count} of ${max} connections (${showPercent(count / max)})`
    if (count <= max * MUCH_SHARE) return ok(found)
    return warn(found, { commands: [sysctlCommand('K7', { 'net.netfilter.nf_conntrack_max': max * 2 })] })
  },
}
