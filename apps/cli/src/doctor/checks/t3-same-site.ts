import { isIP } from 'node:net'
import { ok, skipped, warn, type Check, type Finding } from '../check.ts'
import { hostnameOf } from '../facts/addresses.ts'

/** `co.uk`, `com.au`: registries below a country. This is a rule of thumb in place of the list of public suffixes. */
const SECOND_LEVEL = /^(?:ac|co|com|edu|gov|ne|net|or|org)\.[a-z]{2}$/

export const sameSite: Check = {
  id: 'T3',
  title: 'Same site',
  checks: 'the names of the API, with its dashboard, and of sandboxes: one registrable domain warns',
  why: 'Pages of sandboxes are then the same site for a browser: SameSite cookies do not keep them away from the dashboard, only the check of the Origin does.',
  todo: 'Give sandboxes a registrable domain of their own (SANDYARD_DOMAIN=sandboxes-example.com).',
  async run({ settings }): Promise<Finding> {
    const { publicUrl, domain, hasOwnDomain } = settings
    if (publicUrl === undefined || !hasOwnDomain) return skipped('SANDYARD_API_URL or SANDYARD_DOMAIN is not set')
    const api = new URL(publicUrl).hostname
    const sandboxes = hostnameOf(domain)
    const [site, other] = [siteOf(api), siteOf(sandboxes)]
    return site === other ? warn(`${api} and *.${sandboxes} are one site: ${site}`) : ok(`${api} is of ${site}, sandboxes of ${other}`)
  },
}

function siteOf(name: string): string {
  if (isIP(name) !== 0) return name
  const labels = name.toLowerCase().split('.')
  return labels.slice(SECOND_LEVEL.test(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}
