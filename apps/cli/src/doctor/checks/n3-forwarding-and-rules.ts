import { LABEL } from '@sandyard/runtime-docker/labels'
import { fail, ok, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import { requireEngineNetwork, type Facts } from '../facts/facts.ts'
import { controlsOf, dialFrom } from '../facts/outside.ts'
import { Unreadable } from '../facts/unreadable.ts'

export const forwardingAndRules: Check = {
  id: 'N3',
  title: 'Forwarding and rules',
  checks:
    '`ip_forward` is 1, else fails; a guard with rules runs beside a running server, else fails; with `--deep` a sandbox reaches an address outside that this machine reaches, else fails',
  why: 'Without forwarding sandboxes have no network; without a guard the egress rules of new sandboxes are not in force and creates fail.',
  todo: 'Set net.ipv4.ip_forward=1; for the guard read the log of the server and restart it; a firewall of the host may drop what the bridge sy-... forwards.',
  async run(facts): Promise<Finding> {
    const forwarding = await checkForwarding(facts)
    const guard = await checkGuard(facts)
    const control = facts.isDeep ? await checkControl(facts).catch(toSkipped) : undefined
    const worst = worstOf([forwarding, guard, control], [forwarding, guard, control].flatMap((finding) => finding?.found ?? []).join('; '))
    return worst.level === 'ok' && control?.level === 'skipped' ? control : worst
  },
}

async function checkForwarding(facts: Facts): Promise<Finding> {
  await requireEngineNetwork(facts)
  const isOn = facts.host.number('proc/sys/net/ipv4/ip_forward') === 1
  return isOn
    ? ok('packets are forwarded')
    : fail('net.ipv4.ip_forward is 0', {
        commands: [
          "printf 'net.ipv4.ip_forward = 1\\n' > /etc/sysctl.d/90-sandyard-n3.conf && sysctl -p /etc/sysctl.d/90-sandyard-n3.conf",
        ],
      })
}

async function checkGuard(facts: Facts): Promise<Finding | undefined> {
  if (!(await facts.servers.isUp())) return undefined
  const installation = await facts.database.installation().catch(() => undefined)
  if (installation === undefined) return undefined
  const guards = (await facts.engine.containers()).filter(
    ({ Labels, State }) => Labels[LABEL.installation] === installation && Labels[LABEL.role] === 'guard' && State === 'running',
  )
  if (guards.length > 0) return ok('a guard keeps the rules')
  return facts.settings.allowUnenforcedEgress ? warn('no rules are enforced (SANDYARD_ALLOW_UNENFORCED_EGRESS)') : fail('no guard runs')
}

async function checkControl(facts: Facts): Promise<Finding> {
  const [control] = await controlsOf(facts)
  if (control === undefined) return skipped('no address outside is reachable from this machine, so there is no control for a sandbox')
  const sandbox = await facts.sandboxes.first()
  const outcome = await dialFrom(sandbox, control.host, control.port)
  const where = `${control.host}:${control.port}`
  return outcome === 'open' ? ok(`a sandbox reaches ${where}`) : fail(`this machine reaches ${where}, a sandbox does not (${outcome})`)
}

/** The rest of the check does not need a sandbox. */
function toSkipped(err: unknown): Finding {
  if (err instanceof Unreadable) return skipped(err.message)
  throw err
}
