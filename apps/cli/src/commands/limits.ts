import { type Command, InvalidArgumentError } from 'commander'
import type { TeamTable } from '@sandyard/db/schema/team'
import { parseDurationMs, parseSizeBytes } from '@sandyard/kit/config/units'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { chooseTeam } from '../keys/choose-team.ts'

const MIB = 1024 ** 2
const MOST = 1_000_000
const DAY_SECONDS = 86_400
const DEFAULT = 'default'

interface Limit {
  readonly column: keyof TeamTable & (`max_${string}` | 'creates_per_minute' | 'create_burst')
  readonly argument: string
  readonly doc: string
  readonly read: (text: string) => number | undefined
}

/** By the name of the option. */
const LIMITS: Readonly<Record<string, Limit>> = {
  sandboxes: { column: 'max_sandboxes', argument: '<n>', doc: 'sandboxes at once', read: readCount },
  lifetime: { column: 'max_lifetime_seconds', argument: '<time>', doc: 'longest lifetime of a sandbox, such as 2h', read: readSeconds },
  creates: { column: 'creates_per_minute', argument: '<n>', doc: 'creates and forks in a minute', read: readCount },
  burst: { column: 'create_burst', argument: '<n>', doc: 'creates and forks that may come at once', read: readCount },
  builds: { column: 'max_builds', argument: '<n>', doc: 'registered and running builds at once', read: readCount },
  cpus: { column: 'max_cpu_count', argument: '<n>', doc: 'most processors of a template', read: readCount },
  memory: { column: 'max_memory_mib', argument: '<size>', doc: 'most memory of a template, such as 4GiB', read: readMib },
}

/** The limits of a team, in the database: the API does not serve them. */
export function registerLimits(program: Command, parts: CliParts): void {
  const limits = program
    .command('limits')
    .description("show or change the limits of a team; 'default' is that of the server's settings; needs the database")
    .option('--team <team>', 'slug or id of the team; that of the current key when absent')
  for (const [name, { argument, doc, read }] of Object.entries(LIMITS)) {
    limits.option(`--${name} ${argument}`, doc, (text) => (text === DEFAULT ? DEFAULT : checked(read(text))))
  }
  limits.action((options: Options) => changeLimits(parts, options))
}

interface Options extends Readonly<Record<string, unknown>> {
  readonly team?: string
}

async function changeLimits(parts: CliParts, { team: named, ...options }: Options): Promise<void> {
  const { db } = await parts.database()
  const { id, slug } = await chooseTeam(parts, db, named)
  const wanted = Object.entries(LIMITS).flatMap(([name, { column }]) =>
    name in options ? [[column, options[name] === DEFAULT ? null : (options[name] as number)]] : [],
  )
  const columns = Object.values(LIMITS).map(({ column }) => column)
  const query =
    wanted.length === 0 ? undefined : db.updateTable('team').set(Object.fromEntries(wanted)).where('id', '=', id).returning(columns)
  const row = await (query ?? db.selectFrom('team').select(columns).where('id', '=', id)).executeTakeFirst()
  if (row === undefined) throw new CliFailure(EXIT.notFound, `The team ${slug} was deleted meanwhile.`)
  const found = Object.fromEntries(Object.entries(LIMITS).map(([name, { column }]) => [name, row[column]]))
  const { output } = parts
  output.result({ team: slug, limits: found }, () =>
    output.table(
      ['LIMIT', 'VALUE', 'WHAT'],
      Object.entries(LIMITS).map(([name, { doc, column }]) => [name, row[column] === null ? 'default' : show(name, row[column]), doc]),
    ),
  )
}

function show(name: string, value: number): string {
  if (name === 'lifetime') return `${value}s`
  return name === 'memory' ? `${value}MiB` : String(value)
}

function checked(value: number | undefined): number {
  if (value === undefined) throw new InvalidArgumentError("It must be 'default' or a value within the bounds of docs/limits.md.")
  return value
}

function readCount(text: string): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= MOST ? Number(text) : undefined
}

function readSeconds(text: string): number | undefined {
  const seconds = Math.floor((parseDurationMs(text) ?? 0) / 1000)
  return seconds >= 1 && seconds <= DAY_SECONDS ? seconds : undefined
}

function readMib(text: string): number | undefined {
  const mib = Math.floor((parseSizeBytes(text) ?? 0) / MIB)
  return mib >= 1 && mib <= MOST ? mib : undefined
}
