import type { WebSocket } from 'ws'
import type { AuthCache } from '../../auth/auth-cache.ts'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import { LIVE_CLOSE, LIVE_PING_MS, MAX_LIVE_SOCKETS, MAX_TEAM_LIVE_SOCKETS } from '@sandyard/dashboard-contract/limits'
import type { DashboardSession } from '../sessions/dashboard-session.ts'
import { findSession, touchSession, type SessionParts } from '../sessions/session-rows.ts'
import type { DeskParts, TerminalDesk } from '../terminals/terminal-desk.ts'
import type { Change, ChangeFeed } from './change-feed.ts'
import { LiveSocket } from './live-socket.ts'
import type { TopicRegistry } from './topic-registry.ts'

/** Who has connected. */
export interface ConnectedPage {
  readonly session: DashboardSession
  readonly clientAddress: string
  /** The versions of the first frame. */
  readonly server: string
  readonly assets: string
}

export interface LiveHubParts {
  readonly auth: SessionParts & { readonly cache: Pick<AuthCache, 'hearsChanges'> }
  readonly feed: ChangeFeed
  readonly topics: TopicRegistry
  readonly desk: (page: ConnectedPage, own: Pick<DeskParts, 'outbox' | 'rights' | 'signal'>) => TerminalDesk
  readonly log: Logger
}

/** Sessions end also by time. */
const CHECK_EVERY_MS = 60_000
/** While it is not certain that the end of a session is heard, it is noticed within a second all the same. */
const UNHEARD_EVERY_MS = 500
const AFTER_FAILURE_MS = 5000
const CHECK_TIMEOUT_MS = 10_000

/** The live sockets of this server. */
export class LiveHub implements AsyncDisposable {
  readonly #parts: LiveHubParts
  readonly #sockets = new Set<LiveSocket>()
  readonly #pings: NodeJS.Timeout
  readonly #checks: ReturnType<typeof runLoop>
  readonly #stopListening: () => void
  #isDue = false
  #nextCheckAt = 0
  #notBefore = 0

  constructor(parts: LiveHubParts) {
    this.#parts = parts
    this.#pings = setInterval(() => {
      for (const socket of this.#sockets) socket.ping()
    }, LIVE_PING_MS)
    this.#checks = runLoop({ name: 'live sessions', everyMs: UNHEARD_EVERY_MS, log: parts.log }, () => this.#checkWhenDue())
    this.#stopListening = parts.feed.listen((change) => this.#hear(change))
  }

  /** Takes an upgraded connection. */
  accept(socket: WebSocket, page: ConnectedPage): void {
    const { topics, desk, log } = this.#parts
    const { session, server, assets } = page
    const ofTeam = [...this.#sockets].filter(({ teamId }) => teamId === session.team?.id).length
    if (this.#sockets.size >= MAX_LIVE_SOCKETS || ofTeam >= MAX_TEAM_LIVE_SOCKETS) {
      socket.on('error', () => socket.terminate())
      return socket.close(LIVE_CLOSE.tooMany, 'too many live connections')
    }
    const live = new LiveSocket({ socket, session, topics, log, desk: (own) => desk(page, own) })
    this.#sockets.add(live)
    live.onClose(() => this.#sockets.delete(live))
    live.outbox.tell({ t: 'version', server, assets, sessionEndsAt: session.expiresAt.toISOString() })
  }

  /** The server is stopping: pages connect to another one, or to its successor. */
  closeAll(): void {
    for (const socket of this.#sockets) socket.close(LIVE_CLOSE.goingAway, 'the server is stopping')
  }

  #hear(change: Change): void {
    const isOwn = change.kind === 'session' && [...this.#sockets].some(({ sessionId }) => sessionId === change.id)
    if (isOwn || change.kind === 'auth' || change.kind === 'all') {
      this.#isDue = true
      this.#checks.wake()
    }
  }

  async #checkWhenDue(): Promise<void> {
    const now = performance.now()
    const isDue = this.#isDue || now >= this.#nextCheckAt || !this.#parts.auth.cache.hearsChanges()
    if (!isDue || now < this.#notBefore) return
    this.#isDue = false
    try {
      await this.#check()
    } catch (err) {
      this.#isDue = true
      this.#notBefore = now + AFTER_FAILURE_MS
      throw err
    }
    this.#nextCheckAt = now + CHECK_EVERY_MS
  }

  async #check(): Promise<void> {
    const sockets = [...this.#sockets]
    if (sockets.length === 0) return
    const used = new Set(sockets.filter((socket) => socket.takeUse()).map(({ sessionId }) => sessionId))
    const states = new Map<string, DashboardSession | undefined>()
    // One after the other: a change of rights must not take all connections of the pool.
    for (const id of new Set(sockets.map(({ sessionId }) => sessionId))) {
      states.set(id, await within({ what: 'The check of a session', timeoutMs: CHECK_TIMEOUT_MS }, () => this.#read(id, used.has(id))))
    }
    for (const socket of sockets) socket.update(states.get(socket.sessionId))
  }

  async #read(sessionId: string, isUsed: boolean): Promise<DashboardSession | undefined> {
    const { auth } = this.#parts
    const session = await findSession(auth, sessionId)
    if (session !== undefined && isUsed) await touchSession(auth.database.db, sessionId)
    return session
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#pings)
    this.#stopListening()
    this.closeAll()
    await this.#checks.stop()
  }
}
