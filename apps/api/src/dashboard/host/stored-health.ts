import { sql } from 'kysely'
import type { DismissBody, HealthReport, HostCheck } from '@sandyard/dashboard-contract/host'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'

type FoundCheck = Omit<HostCheck, 'dismissedUntil'>

/** The last result of the checks, for all servers. A run that fails leaves the result before it. */
interface StoredHealth {
  readonly state: 'running' | 'done' | 'failed'
  readonly runId: string
  /** Who runs it: it has failed when the lease of this server has ended. */
  readonly serverId: number
  readonly message: string | null
  readonly ranAt?: string
  readonly isDeep?: boolean
  readonly checks?: readonly FoundCheck[]
}

export interface HealthRun {
  readonly runId: string
  readonly serverId: number
}

export type HealthResult =
  | { readonly state: 'done'; readonly isDeep: boolean; readonly checks: readonly FoundCheck[]; readonly message: string | null }
  | { readonly state: 'failed'; readonly message: string }

/** Values of `server_setting`. */
const [REPORT, DISMISSED] = ['dashboard_health', 'dashboard_dismissed_checks']
const DAYS: Readonly<Record<Exclude<DismissBody['for'], 'none'>, number>> = { day: 1, week: 7, month: 30 }

export async function readHealth(db: Db): Promise<HealthReport> {
  const { rows } = await sql<{ report: StoredHealth | null; dismissed: Readonly<Record<string, string>> | null; is_lost: boolean }>`
    select report.value::jsonb as report, ${isLost(sql`report.value`)} as is_lost,
      (select value::jsonb from server_setting where name = ${DISMISSED}) as dismissed
    from (select max(value) as value from server_setting where name = ${REPORT}) as report
  `.execute(db)
  const { report, dismissed, is_lost: isOver } = rows[0] ?? {}
  if (report === null || report === undefined) return { state: 'never', ranAt: null, isDeep: false, message: null, checks: [] }
  const { state, message, ranAt = null, isDeep = false, checks = [] } = report
  const now = Date.now()
  return {
    state: isOver === true ? 'failed' : state,
    ranAt,
    isDeep,
    message: isOver === true ? 'The server that ran the checks has ended' : message,
    checks: checks.map((check) => {
      const until = dismissed?.[check.id]
      return { ...check, dismissedUntil: until !== undefined && Date.parse(until) > now ? until : null }
    }),
  }
}

/** False while another run goes on, on any server. */
export async function beginRun(db: Db, { runId, serverId }: HealthRun): Promise<boolean> {
  const begun: StoredHealth = { state: 'running', runId, serverId, message: null }
  const { numAffectedRows } = await sql`
    insert into server_setting as stored (name, value) values (${REPORT}, ${JSON.stringify(begun)})
    on conflict (name) do update set value = (stored.value::jsonb || excluded.value::jsonb)::text
    where stored.value::jsonb ->> 'state' <> 'running' or ${isLost(sql`stored.value`)}
  `.execute(db)
  return numAffectedRows === 1n
}

/** Changes nothing when the run was given up meanwhile. */
export async function endRun(db: Db, { runId }: HealthRun, result: HealthResult): Promise<void> {
  const ended = { ...result, ...(result.state === 'done' && { ranAt: new Date().toISOString() }) }
  await sql`
    update server_setting set value = (value::jsonb || ${JSON.stringify(ended)}::jsonb)::text
    where name = ${REPORT} and value::jsonb ->> 'runId' = ${runId} and value::jsonb ->> 'state' = 'running'
  `.execute(db)
}

/** Hides a finding for a time; `none` shows it again. @throws AppError `not_found` for a check that is not in the result */
export async function dismissCheck(db: Db, { id, for: time }: DismissBody): Promise<void> {
  const { checks } = await readHealth(db)
  if (!checks.some((check) => check.id === id)) throw new AppError('not_found', `There is no check ${id} in the last result`)
  if (time === 'none') {
    await sql`update server_setting set value = (value::jsonb - ${id}::text)::text where name = ${DISMISSED}`.execute(db)
    return
  }
  const dismissed = JSON.stringify({ [id]: new Date(Date.now() + DAYS[time] * 24 * 3_600_000).toISOString() })
  await sql`
    insert into server_setting as stored (name, value) values (${DISMISSED}, ${dismissed})
    on conflict (name) do update set value = (stored.value::jsonb || excluded.value::jsonb)::text
  `.execute(db)
}

/** SQL: the server that runs the checks has died. */
function isLost(value: ReturnType<typeof sql>) {
  return sql<boolean>`(${value}::jsonb ->> 'state' = 'running' and not exists (
    select from server where server_id = (${value}::jsonb ->> 'serverId')::integer and lease_until > clock_timestamp()
  ))`
}
