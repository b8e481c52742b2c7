import type { Database } from '@sandyard/db/database'
import type { LogLine, Topics } from '@sandyard/dashboard-contract/live/topics'
import { toSandboxLogEntry } from '../../../sandboxes/logs/log-view.ts'
import { SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { cutToBytes } from './cut-to-bytes.ts'
import { assertSandboxOf, parseSandboxId } from './topic-argument.ts'

type Whole = Topics['logs']['snapshot']

interface Kept {
  /** Unix milliseconds: earlier lines are not read again. */
  readonly floor: number
  /** The lines since then that were sent, with their times. */
  readonly sent: ReadonlyMap<string, number>
}

const LINES = 1000
const MAX_BYTES = 1024 ** 2
/** Lines of daemons are stored without a notification, every few seconds. */
const EVERY_MS = 1500
/** A line gets its time before its transaction commits. */
const OVERLAP_MS = 10_000

/** `logs:<id>` */
export function makeLogsTopic(database: Database): MakeTopic {
  return ({ teamId, argument, inTurn }) => new SharedTopic(new LogsSource(database, teamId, parseSandboxId(argument)), inTurn)
}

class LogsSource implements TopicSource<Whole, Kept, Topics['logs']['patch']> {
  readonly everyMs = EVERY_MS
  readonly #database: Database
  readonly #teamId: string
  readonly #sandboxId: string

  constructor(database: Database, teamId: string, sandboxId: string) {
    this.#database = database
    this.#teamId = teamId
    this.#sandboxId = sandboxId
  }

  async read(): Promise<Whole> {
    await assertSandboxOf(this.#database, this.#teamId, this.#sandboxId)
    const rows = await this.#select().orderBy('logged_at', 'desc').orderBy('log_id', 'desc').limit(LINES).execute()
    return { lines: cutToBytes(rows.map(toLogLine), MAX_BYTES).toReversed() }
  }

  async readNew({ floor, sent }: Kept): Promise<Whole> {
    const rows = await this.#select()
      .where('logged_at', '>=', new Date(floor))
      .orderBy('logged_at')
      .orderBy('log_id')
      .limit(LINES + sent.size)
      .execute()
    return { lines: rows.map(toLogLine) }
  }

  keep({ lines }: Whole, before: Kept | undefined): Kept {
    const all = [...(before?.sent ?? []), ...lines.map(({ id, at }) => [id, at] as const)]
    const newest = all.reduce((latest, [, at]) => Math.max(latest, at), 0)
    const floor = Math.max(before?.floor ?? 0, newest - OVERLAP_MS)
    return { floor, sent: new Map(all.filter(([, at]) => at >= floor)) }
  }

  changes({ floor, sent }: Kept, { lines }: Whole): Topics['logs']['patch'] | undefined {
    const fresh = lines.filter(({ id, at }) => at >= floor && !sent.has(id))
    return fresh.length === 0 ? undefined : { lines: fresh }
  }

  hears(change: { readonly kind: string; readonly id?: string }): boolean {
    return change.kind === 'sandbox' && change.id === this.#sandboxId
  }

  #select() {
    return this.#database.db
      .selectFrom('sandbox_log')
      .select(['log_id', 'logged_at', 'level', 'message', 'fields'])
      .where('sandbox_id', '=', this.#sandboxId)
      .where('team_id', '=', this.#teamId)
  }
}

interface Row {
  readonly log_id: number
  readonly logged_at: Date
  readonly level: LogLine['level']
  readonly message: string
  readonly fields: Record<string, unknown>
}

function toLogLine(row: Row): LogLine {
  const { message, fields } = toSandboxLogEntry(row)
  return { id: String(row.log_id), at: row.logged_at.getTime(), level: row.level, text: message, fields }
}
