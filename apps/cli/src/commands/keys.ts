import { type Command, InvalidArgumentError } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { chooseTeam } from '../keys/choose-team.ts'
import { createKey, deleteKeys, findKey, type KeyView, listKeys, renameKey } from '../keys/key-queries.ts'
import { resolveKey } from '../keys/resolve-key.ts'
import { agoText } from '../time-text.ts'

const DAY_MS = 24 * 3_600_000
const MAX_NAME_LENGTH = 128

/** API keys, in the database: the API does not serve them yet (docs/compatibility.md), and a key may not manage keys. */
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
    .action((name: string, { team }: { team?: string }) => create(parts, name, team))
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

interface ListOptions {
  readonly team?: string
  readonly unused?: number
}

async function list(parts: CliParts, { team, unused }: ListOptions): Promise<void> {
  const { db } = await parts.database()
  const teamId = team === undefined ? undefined : (await chooseTeam(parts, db, team)).id
  const found = (await listKeys(db, teamId)).filter((key) => unused === undefined || isUnused(key, unused))
  const { output } = parts
  output.result(found, () => {
    output.table(
      ['ID', 'NAME', 'KEY', 'TEAM', 'CREATED', 'LAST USE'],
      found.map(({ id, name, mask, team, createdAt, lastUsedAt }) => [
        id,
        name,
        mask,
        team,
        agoText(createdAt),
        lastUsedAt === undefined ? 'never' : agoText(lastUsedAt),
      ]),
    )
    if (found.length === 0) output.say('There are no such keys.')
  })
}

function isUnused({ createdAt, lastUsedAt }: KeyView, days: number): boolean {
  return Date.now() - Date.parse(lastUsedAt ?? createdAt) >= days * DAY_MS
}

async function create(parts: CliParts, name: string, team: string | undefined): Promise<void> {
  const { db } = await parts.database()
  const { id: teamId, slug } = await chooseTeam(parts, db, team)
  const { id, key } = await createKey(db, { teamId, name })
  const { output } = parts
  output.result({ id, name, team: slug, key }, () => output.line(key))
  output.say(`The key "${name}" of the team ${slug} is shown only now: keep it. Its id is ${id}.`)
}

async function rename(parts: CliParts, id: string, name: string): Promise<void> {
  const { db } = await parts.database()
  const key = resolveKey(await listKeys(db), id)
  if (!(await renameKey(db, key.id, name))) throw new CliFailure(EXIT.notFound, `The key ${key.id} was deleted meanwhile.`)
  parts.output.result({ id: key.id, name }, () => parts.output.line(`${key.id} is now "${name}"`))
}

async function revoke(parts: CliParts, ids: readonly string[], yes: boolean | undefined): Promise<void> {
  const database = await parts.database()
  const { db } = database
  const all = await listKeys(db)
  const keys = [...new Set(ids.map((id) => resolveKey(all, id)))]
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
