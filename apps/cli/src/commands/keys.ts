import { createInterface } from 'node:readline'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { parseDurationMs } from '@sandyard/kit/config/units'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { chooseTeam, turnOf } from '../keys/choose-team.ts'
import { createKey, deleteKeys, findKey, type KeyView, listKeys, renameKey } from '../keys/key-queries.ts'
import { resolveKey } from '../keys/resolve-key.ts'
import { agoText, untilText } from '../time-text.ts'

const DAY_MS = 24 * 3_600_000
const MAX_NAME_LENGTH = 128
/** A hundred years. */
const MAX_DAYS = 36_500

/** API keys, in the database: over the API a key may not manage keys (control-plane.md 14.2). */
export function registerKeys(program: Command, parts: CliParts): void {
  const keys = program.command('keys').description('list, create, rename and revoke API keys; needs the database')
  keys
    .command('list')
    .alias('ls')
    .description('list API keys with the ends of their values and their last use')
    .option('--team <team>', 'slug or id of the team; all teams when absent')
    .option('--unused <days>', 'only those that were not used for so many days', readDays)
    .action((options: ListOptions) => list(parts, options))
  keys
    .command('create')
    .argument('<name>', 'what the key is for', readName)
    .description('create an API key and print it; it is shown only now')
    .option('--team <team>', 'slug or id of the team; that of the current key when absent')
    .option('--expires <time>', 'when it ends by itself, such as 90d or 12h from now; never when absent', readLifetime)
    .addOption(new Option('--scope <scope>', 'all that it may do; everything when absent').choices(['connect', 'read', 'build']))
    .action((name: string, options: CreateOptions) => create(parts, name, options))
  keys
    .command('find')
    .description('read a raw API key from stdin, as one that has leaked, and print what it is')
    .action(() => find(parts))
  keys
    .command('rename')
    .argument('<id>', 'id of the key, or its beginning')
    .argument('<name>', 'the new name', readName)
    .description('give an API key another name')
    .action((id: string, name: string) => rename(parts, id, name))
  keys
    .command('revoke')
    .argument('<ids...>', 'ids of keys, or their beginnings')
    .description('delete API keys: servers refuse them at once; asks first')
    .option('--yes', 'do not ask')
    .action((ids: string[], { yes }: { yes?: boolean }) => revoke(parts, ids, yes))
}

interface CreateOptions {
  readonly team?: string
  /** Milliseconds from now. */
  readonly expires?: number
  readonly scope?: KeyScope
}

interface ListOptions {
  readonly team?: string
  readonly unused?: number
}

async function list(parts: CliParts, { team, unused }: ListOptions): Promise<void> {
  const { db } = await parts.database()
  const teamId = team === undefined ? undefined : (await chooseTeam(parts, db, team)).id
  const found = (await listKeys(db, { teamId })).filter((key) => unused === undefined || isUnused(key, unused))
  const { output } = parts
  output.result(found, () => {
    output.table(
      ['ID', 'NAME', 'KEY', 'TEAM', 'SCOPE', 'CREATED', 'LAST USE', 'ENDS'],
      found.map(({ id, name, mask, team, createdAt, lastUsedAt, expiresAt, scope }) => [
        id,
        name,
        mask,
        team,
        scope ?? 'all',
        agoText(createdAt),
        lastUsedAt === undefined ? 'never' : agoText(lastUsedAt),
        expiresAt === undefined ? 'never' : endText(expiresAt),
      ]),
    )
    if (found.length === 0) output.say('There are no such keys.')
  })
}

function isUnused({ createdAt, lastUsedAt }: KeyView, days: number): boolean {
  return Date.now() - Date.parse(lastUsedAt ?? createdAt) >= days * DAY_MS
}

function endText(time: string): string {
  return Date.parse(time) <= Date.now() ? 'ended' : `in ${untilText(time)}`
}

async function create(parts: CliParts, name: string, { team, expires, scope }: CreateOptions): Promise<void> {
  const database = await parts.database()
  const chosen = await chooseTeam(parts, database.db, team)
  const { slug } = chosen
  const expiresAt = expires === undefined ? undefined : new Date(Date.now() + expires)
  const { id, key } = await createKey(database, turnOf(chosen), { name, expiresAt, scope })
  const { output } = parts
  output.result({ id, name, team: slug, key, expiresAt: expiresAt?.toISOString(), scope }, () => output.line(key))
  output.say(`The key "${name}" of the team ${slug} is shown only now: keep it. Its id is ${id}.`)
}

async function find(parts: CliParts): Promise<void> {
  const { db } = await parts.database()
  const { output } = parts
  const key = await findKey(db, await readRawKey(parts))
  if (key === undefined)
    throw new CliFailure(EXIT.notFound, 'No key of this installation has this value: it was never issued here, or is revoked.')
  const { id, name, team } = key
  output.result({ id, name, team: team.slug }, () => output.line(`${id} is "${name}" of the team ${team.slug}`))
  output.say(`To end it: sandyard keys revoke ${id}`)
}

async function rename(parts: CliParts, id: string, name: string): Promise<void> {
  const { db } = await parts.database()
  const key = await resolveKey(db, id)
  if (!(await renameKey(db, key.id, name))) throw new CliFailure(EXIT.notFound, `The key ${key.id} was deleted meanwhile.`)
  parts.output.result({ id: key.id, name }, () => parts.output.line(`${key.id} is now "${name}"`))
}

async function revoke(parts: CliParts, ids: readonly string[], yes: boolean | undefined): Promise<void> {
  const database = await parts.database()
  const { db } = database
  const found = new Map<string, KeyView>()
  for (const id of ids) {
    const key = await resolveKey(db, id)
    found.set(key.id, key)
  }
  const keys = [...found.values()]
  const own = parts.connection.apiKey && (await findKey(db, parts.connection.apiKey.reveal()))
  if (keys.some(({ id }) => id === own?.id)) parts.output.say('One of them is the key that this command line itself uses.')
  const names = keys.map(({ name, mask }) => `"${name}" (${mask})`).join(', ')
  await confirm(parts, `Revoke ${names}? Programs that use ${keys.length === 1 ? 'it' : 'them'} get 401.`, yes)
  const isDone = await deleteKeys(
    database,
    keys.map(({ id }) => id),
  )
  if (!isDone) throw new CliFailure(EXIT.notFound, 'One of the keys was deleted meanwhile; none was revoked.')
  parts.output.result(
    keys.map(({ id, name }) => ({ id, name })),
    () => keys.forEach(({ id }) => parts.output.line(`${id} revoked`)),
  )
}

/** The first line of stdin: an argument would be in the history of the shell and in the list of processes. */
async function readRawKey({ stdin, output, signal }: CliParts): Promise<string> {
  if (stdin.isTTY) output.say('Paste the key and press Enter.')
  const lines = createInterface({ input: stdin, signal })
  try {
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
  }
}

function readLifetime(text: string): number {
  const ms = /^\d{1,5}d$/.test(text) ? readDays(text) * DAY_MS : (parseDurationMs(text) ?? 0)
  if (ms <= 0 || ms > MAX_DAYS * DAY_MS) throw new InvalidArgumentError(`It must be a time of at most ${MAX_DAYS}d, such as 90d or 12h.`)
  return ms
}

function readName(text: string): string {
  if (text.trim() === '' || text.length > MAX_NAME_LENGTH)
    throw new InvalidArgumentError(`It must have 1 to ${MAX_NAME_LENGTH} characters.`)
  return text.trim()
}

function readDays(text: string): number {
  const days = /^(\d{1,5})d?$/.exec(text)?.[1]
  if (days === undefined) throw new InvalidArgumentError('It must be a number of days, such as 90 or 90d.')
  return Number(days)
}
