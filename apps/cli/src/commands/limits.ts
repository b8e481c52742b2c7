import { type Command, InvalidArgumentError } from 'commander'
import { toOwnLimits, type LimitName } from '@sandyard/api/teams/team-limits'
import { updateTeam } from '@sandyard/api/teams/update-team'
import { parseDurationMs, parseSizeBytes } from '@sandyard/kit/config/units'
import type { CliParts } from '../cli-parts.ts'
import { chooseTeam, turnOf } from '../keys/choose-team.ts'
import { sizeText } from '../size-text.ts'

const MIB = 1024 ** 2
const MOST = 1_000_000
const DAY_SECONDS = 86_400
const DEFAULT = 'default'

interface Limit {
  readonly limit: LimitName
  readonly argument: string
  readonly doc: string
  readonly read: (text: string) => number | undefined
}

/** By the name of the option. */
const LIMITS: Readonly<Record<string, Limit>> = {
  sandboxes: { limit: 'concurrentSandboxes', argument: '<n>', doc: 'sandboxes at once', read: readCount },
  paused: { limit: 'maxPausedSandboxes', argument: '<n>', doc: 'sandboxes that are paused, or will be at their end time', read: readCount },
  lifetime: { limit: 'maxLifetimeSeconds', argument: '<time>', doc: 'longest lifetime of a sandbox, such as 2h', read: readSeconds },
  creates: { limit: 'createsPerMinute', argument: '<n>', doc: 'creates and forks in a minute', read: readCount },
  burst: { limit: 'createBurst', argument: '<n>', doc: 'creates and forks that may come at once', read: readCount },
  snapshots: { limit: 'maxSnapshots', argument: '<n>', doc: 'snapshots', read: readCount },
  templates: { limit: 'maxTemplates', argument: '<n>', doc: 'templates', read: readCount },
  builds: { limit: 'concurrentBuilds', argument: '<n>', doc: 'registered and running builds at once', read: readCount },
  cpus: { limit: 'maxCpuCount', argument: '<n>', doc: 'most processors of a template', read: readCount },
  memory: { limit: 'maxMemoryMib', argument: '<size>', doc: 'most memory of a template, such as 4GiB', read: readMib },
  disk: { limit: 'maxDiskMib', argument: '<size>', doc: 'largest disk that a template may ask for, such as 20GiB', read: readMib },
  stored: { limit: 'maxStoredBytes', argument: '<size>', doc: 'volumes and uploads together, such as 500GiB', read: readBytes },
}

/** The limits of a team, in the database: the API changes them for administrators only. */
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
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, named)
  const wanted = Object.entries(LIMITS).flatMap(([name, { limit }]) =>
    name in options ? [[limit, options[name] === DEFAULT ? null : (options[name] as number)]] : [],
  )
  const row = await updateTeam(database, turnOf(team), { limits: Object.fromEntries(wanted) })
  const own = toOwnLimits(row)
  const found = Object.fromEntries(Object.entries(LIMITS).map(([name, { limit }]) => [name, own[limit] ?? null]))
  const { output } = parts
  output.result({ team: team.slug, limits: found }, () =>
    output.table(
      ['LIMIT', 'VALUE', 'WHAT'],
      Object.entries(LIMITS).map(([name, { doc, limit }]) => [name, own[limit] === undefined ? 'default' : show(name, own[limit]), doc]),
    ),
  )
}

function show(name: string, value: number): string {
  if (name === 'lifetime') return `${value}s`
  if (name === 'stored') return sizeText(value)
  return name === 'memory' || name === 'disk' ? `${value}MiB` : String(value)
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

function readBytes(text: string): number | undefined {
  const bytes = parseSizeBytes(text) ?? 0
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined
}
