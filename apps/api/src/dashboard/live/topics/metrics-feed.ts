import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import { MAX_METRIC_SANDBOXES } from '@sandyard/dashboard-contract/limits'
import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import type { LiveTopic, TopicReader } from '../live-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseSandboxId } from './topic-argument.ts'

/** Half of the interval of the samples. */
const EVERY_MS = 2500
const READ_TIMEOUT_MS = 10_000
const BATCH = 1000
/** Older samples are of sandboxes that do not run, or do not answer. */
const FRESH_SECONDS = 30

type Samples = Readonly<Record<string, MetricSample>>

/** Reads the newest samples of all sandboxes that pages show, once for all of them, while there are any. */
export class MetricsFeed implements AsyncDisposable {
  readonly #database: Database
  readonly #log: Logger
  readonly #topics = new Set<MetricsTopic>()
  #loop: Loop | undefined

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  /** `metrics:<id>,<id>,...` */
  readonly make: MakeTopic = ({ teamId, argument }) => {
    const ids = [...new Set(argument.split(',', MAX_METRIC_SANDBOXES + 1))].map(parseSandboxId)
    if (ids.length > MAX_METRIC_SANDBOXES) throw new AppError('invalid_argument', `At most ${MAX_METRIC_SANDBOXES} sandboxes in a topic`)
    return new MetricsTopic(teamId, ids, this)
  }

  enter(topic: MetricsTopic): void {
    this.#topics.add(topic)
    this.#loop ??= runLoop({ name: 'live metrics', everyMs: EVERY_MS, log: this.#log }, (signal) => this.#read(signal))
    this.#loop.wake()
  }

  leave(topic: MetricsTopic): void {
    this.#topics.delete(topic)
    if (this.#topics.size > 0) return
    void this.#loop?.stop()
    this.#loop = undefined
  }

  async #read(signal: AbortSignal): Promise<void> {
    const topics = [...this.#topics]
    const wanted = new Map(topics.flatMap(({ teamId, ids }) => ids.map((id) => [`${teamId} ${id}`, { team: teamId, id }])))
    const found = new Map<string, MetricSample>()
    const all = [...wanted.values()]
    for (let at = 0; at < all.length; at += BATCH) {
      const batch = all.slice(at, at + BATCH)
      const rows = await within({ what: 'Live metrics', timeoutMs: READ_TIMEOUT_MS, signal }, () => this.#select(batch))
      for (const { team_id, sandbox_id, ...row } of rows) found.set(`${team_id} ${sandbox_id}`, toSample(row))
    }
    for (const topic of topics) topic.send(found)
  }

  async #select(wanted: readonly { readonly team: string; readonly id: string }[]): Promise<Row[]> {
    const { rows } = await sql<Row>`
      select latest.* from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as asked (team uuid, id text)
      join sandbox on sandbox.sandbox_id = asked.id and sandbox.team_id = asked.team and sandbox.state = 'running'
      cross join lateral (
        select * from sandbox_metric
        where sandbox_metric.sandbox_id = asked.id and sandbox_metric.team_id = asked.team
          and sampled_at > clock_timestamp() - make_interval(secs => ${FRESH_SECONDS})
        order by sampled_at desc limit 1
      ) as latest
    `.execute(this.#database.db)
    return rows
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#topics.clear()
    await this.#loop?.stop()
  }
}

interface SampleRow {
  readonly sampled_at: Date
  readonly cpu_used_pct: number
  readonly mem_used: number
  readonly mem_cache: number
  readonly mem_total: number
  readonly disk_used: number
  readonly disk_total: number
}

interface Row extends SampleRow {
  readonly sandbox_id: string
  readonly team_id: string
}

function toSample(row: SampleRow): MetricSample {
  return {
    at: row.sampled_at.getTime(),
    cpuPct: row.cpu_used_pct,
    memoryUsedBytes: row.mem_used,
    memoryCacheBytes: row.mem_cache,
    memoryTotalBytes: row.mem_total,
    diskUsedBytes: row.disk_used,
    diskTotalBytes: row.disk_total,
  }
}

class MetricsTopic implements LiveTopic {
  readonly teamId: string
  readonly ids: readonly string[]
  readonly #feed: MetricsFeed
  /** False: it has no snapshot yet. */
  readonly #readers = new Map<TopicReader, boolean>()
  /** When each sandbox was sampled that the readers know of. */
  #sent: ReadonlyMap<string, number> = new Map()

  constructor(teamId: string, ids: readonly string[], feed: MetricsFeed) {
    this.teamId = teamId
    this.ids = ids
    this.#feed = feed
  }

  join(reader: TopicReader): void {
    this.#readers.set(reader, false)
    this.#feed.enter(this)
  }

  leave(reader: TopicReader): void {
    this.#readers.delete(reader)
  }

  hear(): void {}

  end(): void {
    this.#feed.leave(this)
  }

  send(found: ReadonlyMap<string, MetricSample>): void {
    const known = this.ids.flatMap((id): [string, MetricSample][] => {
      const sample = found.get(`${this.teamId} ${id}`)
      return sample === undefined ? [] : [[id, sample]]
    })
    const fresh = known.filter(([id, { at }]) => this.#sent.get(id) !== at)
    const whole: Samples = Object.fromEntries(known)
    for (const [reader, isLive] of this.#readers) {
      if (!isLive) reader.snapshot(whole)
      else if (fresh.length > 0) reader.patch(Object.fromEntries(fresh))
      this.#readers.set(reader, true)
    }
    this.#sent = new Map(known.map(([id, { at }]) => [id, at]))
  }
}
