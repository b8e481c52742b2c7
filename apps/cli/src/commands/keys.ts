import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDurationMs } from '@sandyard/kit/config/units'
import type { CliParts } from '../cli-parts.ts'
import type { CreateOptions, ListOptions } from '../keys/manage-keys.ts'

const DAY_MS = 24 * 3_600_000
const MAX_NAME_LENGTH = 128
/** A hundred years. */
const MAX_DAYS = 36_500

const load = () => import('../keys/manage-keys.ts')

/** API keys, in the database: over the API a key may not manage keys (control-plane.md 14.2). */
export function registerKeys(program: Command, parts: CliParts): void {
  const keys = program.command('keys').description('list, create, rename and revoke API keys; needs the database')
  keys
    .command('list')
    .alias('ls')
    .description('list API keys with the ends of their values and their last use')
    .option('--team <team>', 'slug or id of the team; all teams when absent')
    .option('--unused <days>', 'only those that were not used for so many days', readDays)
    .action(async (options: ListOptions) => (await load()).showKeys(parts, options))
  keys
    .command('create')
    .argument('<name>', 'what the key is for', readName)
    .description('create an API key and print it; it is shown only now')
    .option('--team <team>', 'slug or id of the team; that of the current key when absent')
    .option('--expires <time>', 'when it ends by itself, such as 90d or 12h from now; never when absent', readLifetime)
    .addOption(new Option('--scope <scope>', 'all that it may do; everything when absent').choices(['connect', 'read', 'build']))
    .action(async (name: string, options: CreateOptions) => (await load()).makeKey(parts, name, options))
  keys
    .command('find')
    .description('read a raw API key from stdin, as one that has leaked, and print what it is')
    .action(async () => (await load()).tellKey(parts))
  keys
    .command('rename')
    .argument('<id>', 'id of the key, or its beginning')
    .argument('<name>', 'the new name', readName)
    .description('give an API key another name')
    .action(async (id: string, name: string) => (await load()).changeKeyName(parts, id, name))
  keys
    .command('revoke')
    .argument('<ids...>', 'ids of keys, or their beginnings')
    .description('delete API keys: servers refuse them at once; asks first')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], { yes }: { yes?: boolean }) => (await load()).revokeKeys(parts, ids, yes))
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
