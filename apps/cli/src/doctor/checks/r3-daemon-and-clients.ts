import { LABEL } from '@sandyard/runtime-docker/labels'
import { ok, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { requireInstallation } from '../facts/own-images.ts'

const PREFIX = 'sandyard-daemon-'

export const daemonAndClients: Check = {
  id: 'R3',
  title: 'Daemon and clients',
  checks:
    'running sandboxes with an older daemon than the newest of this installation warn; requests that were answered with 501, by operation and field, warn. Versions of SDKs are not recorded by this release',
  why: 'Sandboxes keep the daemon that they started with: fixes reach them after a new start. A 501 is something that a client asked for in vain.',
  todo: 'Let the sandboxes end, or pause and resume them from their files; look the operation up in docs/compatibility.md.',
  async run(facts): Promise<Finding> {
    const findings = [await checkDaemons(facts), await checkRefused(facts)]
    return worstOf(findings, findings.map(({ found }) => found).join('; '))
  },
}

interface Volume {
  readonly Name: string
  readonly CreatedAt?: string
  readonly Labels?: Readonly<Record<string, string>> | null
}

/** Other installations on the engine may have newer daemons: volumes that this one neither made nor uses do not count. */
async function checkDaemons(facts: Facts): Promise<Finding> {
  const installation = await requireInstallation(facts)
  const sandboxes = (await facts.engine.containers()).filter(
    ({ Labels, State }) => Labels[LABEL.installation] === installation && Labels[LABEL.role] === 'sandbox' && State === 'running',
  )
  const daemonOf = ({ Mounts }: (typeof sandboxes)[number]): string | undefined =>
    Mounts.find(({ Name }) => Name?.startsWith(PREFIX) === true)?.Name
  const used = new Set(sandboxes.map(daemonOf))
  const volumes = ((await facts.engine.volumes()) as Volume[]).filter(
    ({ Name, Labels }) => Name.startsWith(PREFIX) && (used.has(Name) || Labels?.[LABEL.installation] === installation),
  )
  const newest = volumes.toSorted((left, right) => Date.parse(right.CreatedAt ?? '') - Date.parse(left.CreatedAt ?? ''))[0]?.Name
  const old = sandboxes.filter((sandbox) => daemonOf(sandbox) !== newest)
  if (old.length > 0) return warn(`${old.length} of ${sandboxes.length} sandboxes have an older daemon than ${newest}`)
  return ok(`${sandboxes.length} sandboxes, all with the newest daemon`)
}

async function checkRefused({ servers }: Facts): Promise<Finding> {
  const samples = await servers.metrics().catch(() => undefined)
  if (samples === undefined) return ok('the metrics were not read')
  const refused = samples.filter(({ name, value }) => name === 'sandyard_unimplemented_requests_total' && value > 0)
  if (refused.length === 0) return ok('no request was answered with 501 since the start of the server')
  const told = refused.map(({ labels, value }) =>
    [labels['operation'], labels['field'], `(${value})`].filter((part) => part !== '' && part !== undefined).join(' '),
  )
  return warn(`answered with 501: ${told.join(', ')}`)
}
