import type { HealthReport, HostView } from '@sandyard/dashboard-contract/host'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { readHealth } from '../../host/stored-health.ts'
import { readCreates } from '../../operations/host/read-host.ts'
import { readHostView, type HostViewParts } from '../../operations/host/read-host-view.ts'
import type { LiveTopic } from '../live-topic.ts'
import { SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { digest } from './whole-source.ts'

type Whole = Topics['host']['snapshot']

interface Kept {
  readonly host: string
  readonly health: string
}

/** As often as a server stores the figures of its host. */
const EVERY_MS = 3000
const CREATES_EVERY_MS = 15_000
/** A look at the engine lists all its objects. */
const ORPHANS_EVERY_MS = 60_000

/** `host`: read once for all operators of this server, whatever their teams. */
export class HostFeed {
  readonly #parts: HostViewParts
  readonly #log: Logger
  #shared: SharedTopic<Whole, Kept, Topics['host']['patch']> | undefined
  #topics = 0
  #creates: { readonly of: Pick<HostView, 'createMs' | 'slowCreates'>; readonly at: number } | undefined
  #lookedAt = -Infinity

  constructor(parts: HostViewParts, log: Logger) {
    this.#parts = parts
    this.#log = log
  }

  readonly make: MakeTopic = ({ isOperator }) => {
    if (!isOperator) throw new AppError('permission_denied', 'Only operators see the host: log in with the admin token')
    const shared = (this.#shared ??= new SharedTopic(this.#source(), (work) => work()))
    this.#topics += 1
    return {
      join: (reader) => shared.join(reader),
      leave: (reader) => shared.leave(reader),
      hear: (change) => shared.hear(change),
      end: () => this.#left(shared),
    } satisfies LiveTopic
  }

  #left(shared: LiveTopic): void {
    this.#topics -= 1
    if (this.#topics > 0) return
    shared.end()
    this.#shared = undefined
  }

  #source(): TopicSource<Whole, Kept, Topics['host']['patch']> {
    return {
      everyMs: EVERY_MS,
      read: () => this.#read(),
      keep: ({ host, health }) => ({ host: digest(host), health: digest(health) }),
      changes: (kept, { host, health }) => {
        const patch = { ...(kept.host !== digest(host) && { host }), ...(kept.health !== digest(health) && { health }) }
        return Object.keys(patch).length === 0 ? undefined : patch
      },
      hears: ({ kind }) => kind === 'host',
    }
  }

  async #read(): Promise<{ readonly host: HostView; readonly health: HealthReport }> {
    const { db } = this.#parts.database
    this.#countOrphans()
    const now = performance.now()
    if (this.#creates === undefined || now - this.#creates.at > CREATES_EVERY_MS) this.#creates = { of: await readCreates(db), at: now }
    return { host: await readHostView(this.#parts, this.#creates.of), health: await readHealth(db) }
  }

  /** In the background: the engine may be slow, and the other figures come at once. */
  #countOrphans(): void {
    const { orphans } = this.#parts
    if (!orphans.isServed || performance.now() - this.#lookedAt < ORPHANS_EVERY_MS) return
    this.#lookedAt = performance.now()
    void orphans.list(ORPHANS_EVERY_MS).catch((err: unknown) => this.#log.warn({ err }, 'the orphans could not be counted'))
  }
}
