import { CHANNELS, notifyNow } from '@sandyard/db/notify'
import type { AppContext } from '../../context.ts'
import { Recordings } from '../recordings/recordings.ts'
import { auditTerminal } from '../terminals/audit-terminal.ts'
import { TerminalDesk } from '../terminals/terminal-desk.ts'
import { Terminals } from '../terminals/terminals.ts'
import { LiveHub } from './live-hub.ts'
import { TopicRegistry } from './topic-registry.ts'
import { makeBuildTopic } from './topics/build-topic.ts'
import { makeBuildsTopic } from './topics/builds-topic.ts'
import { makeEgressTopic } from './topics/egress-topic.ts'
import { makeEventsTopic } from './topics/events-topic.ts'
import { HostFeed } from './topics/host-topic.ts'
import { makeJobTopic } from './topics/job-topic.ts'
import { makeLogsTopic } from './topics/logs-topic.ts'
import { MetricsFeed } from './topics/metrics-feed.ts'
import { makeSandboxTopic } from './topics/sandbox-topic.ts'
import { makeSandboxesTopic } from './topics/sandboxes-topic.ts'
import { makeTerminalsTopic } from './topics/terminals-topic.ts'
import { makeWatchTopic } from './topics/watch-topic.ts'

/** What the live socket of a server consists of. */
export class LiveParts implements AsyncDisposable {
  readonly terminals: Terminals
  readonly hub: LiveHub
  readonly #recordings: Recordings
  readonly #topics: TopicRegistry
  readonly #metrics: MetricsFeed

  constructor(ctx: AppContext) {
    const { database, feed } = ctx
    const { tokenSeed, serverId } = ctx.sandboxes
    const log = ctx.log.http
    const tellOthers = (teamId: string, id: string): void =>
      void notifyNow(database.db, CHANNELS.dashboardChanged, `${teamId} terminal ${id}`).catch((err: unknown) =>
        log.warn({ err }, 'other servers were not told of a shell'),
      )
    this.terminals = new Terminals({ database, tokenSeed, feed, serverId, tellOthers, log })
    this.#recordings = new Recordings({ database, log })
    this.#metrics = new MetricsFeed(database, log)
    this.#topics = new TopicRegistry(
      {
        sandboxes: makeSandboxesTopic({ database, limits: ctx.config.limits }),
        sandbox: makeSandboxTopic(database, ctx.config.retention),
        metrics: this.#metrics.make,
        logs: makeLogsTopic(database),
        events: makeEventsTopic(database),
        builds: makeBuildsTopic(database),
        build: makeBuildTopic(database),
        job: makeJobTopic(database),
        host: new HostFeed(ctx, log).make,
        egress: makeEgressTopic(database),
        terminals: makeTerminalsTopic(database, this.terminals),
        watch: makeWatchTopic({ database, tokenSeed }),
      },
      feed,
    )
    this.hub = new LiveHub({
      auth: ctx.auth,
      feed,
      topics: this.#topics,
      desk: (page, own) =>
        new TerminalDesk({
          ...own,
          terminals: this.terminals,
          audit: (operation, target, err) => auditTerminal(ctx.audit, page, { operation, ...target, err }),
          record: (terminal, isOn, isWhole) => this.#recordings.set(terminal, { isOn, isWhole }),
        }),
      log,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub[Symbol.asyncDispose]()
    this.#topics[Symbol.dispose]()
    await this.#metrics[Symbol.asyncDispose]()
    this.terminals[Symbol.dispose]()
    await this.#recordings[Symbol.asyncDispose]()
  }
}
