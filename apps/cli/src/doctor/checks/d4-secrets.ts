import { countByKey } from '@sandyard/api/secrets/reseal-secrets'
import { ConfigError } from '@sandyard/kit/config/parse-config'
import { fail, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { Unreadable } from '../facts/unreadable.ts'

const LEAST_BYTES = 32
const UNUSED_DAYS = 90
const MAX_NAMES = 10

export const secrets: Check = {
  id: 'D4',
  title: 'Secrets',
  checks:
    'an admin token of fewer than 32 bytes fails; a secret among the arguments of a process in `/proc` (in a container only of its own) fails; values of secrets in the database that no key of the settings opens fail; API keys unused for 90 days warn',
  why: 'A short token can be guessed; every user of the machine reads the arguments of all processes; a forgotten key is one more that can leak. Network rules that name a secret without its key refuse their requests.',
  todo: 'Make a token with "openssl rand -hex 32"; give secrets by NAME_FILE or the environment; revoke unused keys (sandyard keys). Bring back the lost key of secrets in SANDYARD_SECRETS_OLD_KEYS, or store the values again (docs/secrets.md).',
  async run(facts): Promise<Finding> {
    const token = facts.settings.adminToken?.reveal()
    const shown = findShown(facts)
    const unused = await findUnused(facts)
    const rest = `${token === undefined ? 'no admin token is set' : 'the admin token is long enough'}, ${unused === undefined ? 'keys not read' : 'no unused key'}`
    const worst = worstOf(
      [
        token !== undefined && Buffer.byteLength(token) < LEAST_BYTES
          ? fail(`SANDYARD_ADMIN_TOKEN has ${Buffer.byteLength(token)} bytes, fewer than ${LEAST_BYTES}`)
          : undefined,
        ...shown.map((text) => fail(text)),
        await findLocked(facts),
        unused !== undefined && unused.length > 0
          ? warn(`keys unused for ${UNUSED_DAYS} days: ${unused.slice(0, MAX_NAMES).join(', ')}${unused.length > MAX_NAMES ? ', ...' : ''}`)
          : undefined,
      ],
      `${rest}, no secret among arguments`,
    )
    if (worst.level === 'ok' && facts.host.isContainer)
      return skipped(`${rest}; the arguments of processes outside of this container were not looked at: run this on the host too`)
    return worst
  },
}

/** The values are never part of the finding. */
function findShown({ settings, servers, host, database }: Facts): string[] {
  const url = database.url
  const password = url === undefined || !URL.canParse(url) ? '' : decodeURIComponent(new URL(url).password)
  const all: (readonly [name: string, value: string | undefined])[] = [
    ['SANDYARD_ADMIN_TOKEN', settings.adminToken?.reveal()],
    ['the API key', servers.addresses.apiKey?.reveal()],
    ['the password of the database', password],
  ]
  return host.processes().flatMap(({ pid, args }) => {
    const line = args.join(' ')
    return all.flatMap(([name, value]) => (isShown(line, value) ? [`process ${pid} (${args[0]}) has ${name} among its arguments`] : []))
  })
}

/** Short values such as "postgres" are in many command lines by chance. */
function isShown(line: string, value: string | undefined): boolean {
  return value !== undefined && value.length >= 12 && line.includes(value)
}

/** Values that the keys of the settings do not open; undefined when there are none, or the database does not answer. */
async function findLocked({ database, keyRing }: Facts): Promise<Finding | undefined> {
  try {
    const counts = await database.read((db) => countByKey(db))
    if (counts.size === 0) return undefined
    const known = new Set((await keyRing())?.keyIds)
    const locked = [...counts].filter(([keyId]) => !known.has(keyId))
    if (locked.length === 0) return undefined
    const keys = locked.map(([keyId, count]) => `${keyId} (${count} values)`).join(', ')
    return fail(`values of secrets are encrypted with keys that are not in the settings: ${keys}`)
  } catch (err) {
    if (err instanceof Unreadable) return undefined
    if (err instanceof ConfigError) return fail(`the key of secrets cannot be read: ${err.problems.join('; ')}`)
    throw err
  }
}

/** Names and masked values; undefined when the database does not answer. */
async function findUnused({ database, machine }: Facts): Promise<string[] | undefined> {
  const before = new Date(machine.now() - UNUSED_DAYS * 24 * 3_600_000)
  try {
    const rows = await database.read((db) =>
      db
        .selectFrom('api_key')
        .select(['name', 'prefix', 'masked_value_prefix', 'masked_value_suffix'])
        .where((eb) => eb(eb.fn.coalesce('last_used_at', 'created_at'), '<', before))
        .orderBy('created_at')
        .limit(MAX_NAMES + 1)
        .execute(),
    )
    return rows.map((row) => `"${row.name}" (${row.prefix}${row.masked_value_prefix}...${row.masked_value_suffix})`)
  } catch (err) {
    if (err instanceof Unreadable) return undefined
    throw err
  }
}
