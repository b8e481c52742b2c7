import { once } from 'node:events'
import { createServer, isIP, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { fail, ok, skipped, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { controlsOf, dialFrom, type Target } from '../facts/outside.ts'
import type { ThrowAwaySandbox } from '../facts/throw-away-sandbox.ts'

interface Door extends Target {
  readonly name: string
}

const POSTGRES_PORT = 5432
const METADATA: Door = { name: 'the metadata service', host: '169.254.169.254', port: 80 }

export const egress: Check = {
  id: 'N6',
  title: 'Egress',
  checks:
    'from a sandbox: first an allow control gets out, then metadata, the host, the API, Postgres and a sibling are refused, else fails; its resolvers answer, else fails',
  why: 'A sandbox that reaches the host, the database or its neighbours reaches the data of others.',
  todo: 'Do not run untrusted code on this server. Look for the rules (nft list ruleset), for other programs that flush them, and into the log of the server.',
  isDeep: true,
  async run(facts): Promise<Finding> {
    const sandbox = await facts.sandboxes.first()
    const [control] = await controlsOf(facts)
    const hasName = control !== undefined && isIP(control.host) === 0
    const resolves = !hasName || (await sandbox.run(`timeout 8 getent hosts ${control.host}`)).exitCode === 0
    const isOut = control !== undefined && (await dialFrom(sandbox, control.host, control.port)) === 'open'
    const open = await openDoors(facts, sandbox)
    if (open.length > 0) return fail(`a sandbox reaches ${open.join(', ')}`)
    if (!resolves) return fail('the resolvers of a sandbox do not answer', { todo: 'Set SANDYARD_RESOLVERS.' })
    if (control !== undefined && !isOut) return fail(`a sandbox does not reach the control ${control.host}:${control.port}`)
    if (control === undefined) {
      return skipped(
        'metadata, host, API, Postgres and a sibling were refused, but no address outside is reachable here for the allow control',
      )
    }
    return ok(`${control.host}:${control.port} is reached, names resolve; metadata, host, API, Postgres and a sibling are refused`)
  },
}

/** A listener of our own stands for the host, because servers on loopback refuse anyway. */
async function openDoors(facts: Facts, sandbox: ThrowAwaySandbox): Promise<string[]> {
  const sibling = await facts.sandboxes.sibling()
  const siblingAddress = (await sibling.run('hostname -I')).stdout.trim().split(' ')[0] ?? ''
  const gateway = (await sandbox.run("ip route show default 2> /dev/null | cut -d' ' -f3")).stdout.trim()
  const listener = createServer((socket) => socket.destroy()).listen(0)
  await once(listener, 'listening')
  try {
    const { port } = listener.address() as AddressInfo
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const hosts = own.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address)
    const all = [...new Set([gateway, ...hosts])].filter((host) => host !== '')
    const doors: Door[] = [
      METADATA,
      { name: 'a sibling', host: siblingAddress, port: 49_983 },
      ...all.flatMap((host) => [
        { name: 'the host', host, port },
        { name: 'the API', host, port: portOf(facts.servers.addresses.apiUrl) },
        { name: 'Postgres', host, port: portOf(facts.database.url ?? '') },
      ]),
    ].filter(({ host }) => host !== '')
    const outcomes = await Promise.all(doors.map(async (door) => ({ door, outcome: await dialFrom(sandbox, door.host, door.port) })))
    return outcomes.filter(({ outcome }) => outcome === 'open').map(({ door }) => `${door.name} (${door.host}:${door.port})`)
  } finally {
    await new Promise((resolve) => listener.close(resolve))
  }
}

/** A database on a socket has a URL without a host. */
function portOf(url: string): number {
  if (!URL.canParse(url)) return POSTGRES_PORT
  const { port, protocol } = new URL(url)
  return port === '' ? ({ 'https:': 443, 'http:': 80 }[protocol] ?? POSTGRES_PORT) : Number(port)
}
