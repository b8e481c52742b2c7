import { randomId } from '@sandyard/kit/ids/ids'
import { fail, ok, warn, worstOf, type Check, type Finding } from '../check.ts'
import { hostnameOf, isLoopbackAddress, isHttps } from '../facts/addresses.ts'
import type { Facts } from '../facts/facts.ts'
import { reach } from '../facts/reach.ts'

const HEALTHY = 'Health check successful'
const UNKNOWN_SANDBOX = /The sandbox was not found/

export const names: Check = {
  id: 'N5',
  title: 'Names',
  checks:
    'a random name below `SANDYARD_DOMAIN` and the name of `SANDYARD_API_URL` resolve and reach our servers, else fail; without a domain of your own `x.localhost` resolves to this machine, else warns',
  why: 'Clients reach a sandbox by a name of its own below the domain.',
  todo: 'Add a wildcard record *.<domain> that points to this machine.',
  async run(facts): Promise<Finding> {
    const domain = facts.settings.hasOwnDomain ? await checkDomain(facts) : await checkLocalhost(facts)
    const findings = [domain, await checkApi(facts)]
    return worstOf(findings, findings.flatMap((finding) => finding?.found ?? []).join(', '))
  },
}

async function checkDomain(facts: Facts): Promise<Finding> {
  const { domain, publicUrl } = facts.settings
  const name = `49983-i${randomId(19)}.${domain}`
  const addresses = await facts.machine.lookUp(hostnameOf(name))
  if (addresses.length === 0) return fail(`no name below ${hostnameOf(domain)} has an address: the wildcard record is missing`)
  if (!(await facts.servers.isUp())) return ok(`*.${hostnameOf(domain)} is ${addresses.join(', ')}`)
  const url = `${isHttps(publicUrl) ? 'https' : 'http'}://${name}/`
  const answer = await reach(facts, url).catch((err: Error) => err)
  if (answer instanceof Error) return fail(`*.${domain} (${addresses.join(', ')}) does not answer: ${answer.message}`)
  if (!UNKNOWN_SANDBOX.test(answer.text)) return fail(`*.${domain} (${addresses.join(', ')}) leads to another server (${answer.status})`)
  return ok(`*.${domain} reaches the proxy`)
}

async function checkApi(facts: Facts): Promise<Finding | undefined> {
  const { publicUrl } = facts.settings
  if (publicUrl === undefined) return undefined
  const { hostname } = new URL(publicUrl)
  const addresses = await facts.machine.lookUp(hostname)
  if (addresses.length === 0) return fail(`${hostname} has no address`)
  if (!(await facts.servers.isUp())) return ok(`${hostname} is ${addresses.join(', ')}`)
  const answer = await reach(facts, `${publicUrl.replace(/\/+$/, '')}/health`).catch((err: Error) => err)
  if (answer instanceof Error) return fail(`${publicUrl} does not answer: ${answer.message}`)
  return answer.text === HEALTHY ? ok(`${publicUrl} reaches the API`) : fail(`${publicUrl} leads to another server (${answer.status})`)
}

async function checkLocalhost({ machine }: Facts): Promise<Finding> {
  const addresses = await machine.lookUp('x.localhost')
  if (addresses.some(isLoopbackAddress)) return ok('x.localhost is this machine')
  return warn('x.localhost does not resolve here: clients on this machine need E2B_SANDBOX_URL', {
    todo: 'Install libnss-myhostname, or set E2B_SANDBOX_URL for clients on this machine (sandyard env prints it).',
  })
}
