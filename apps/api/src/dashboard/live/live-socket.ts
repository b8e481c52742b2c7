import type { RawData, WebSocket } from 'ws'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runForOwner } from '@sandyard/kit/tracing/scope'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import { LIVE_CLOSE, LIVE_SILENCE_MS, MAX_SUBSCRIPTIONS } from '@sandyard/dashboard-contract/limits'
import type { ClientFrame } from '@sandyard/dashboard-contract/live/frames'
import { teamBlocked } from '../../auth/auth-errors.ts'
import { assertMayChange, getSessionTeam, noTeamYet, type DashboardSession } from '../sessions/dashboard-session.ts'
import type { DeskParts, TerminalDesk, TerminalFrame } from '../terminals/terminal-desk.ts'
import { Outbox } from './outbox.ts'
import { parseFrame } from './parse-frame.ts'
import { describeError, Subscription } from './subscription.ts'
import type { TopicRegistry } from './topic-registry.ts'

export interface LiveSocketParts {
  readonly socket: WebSocket
  readonly session: DashboardSession
  readonly topics: TopicRegistry
  readonly desk: (own: Pick<DeskParts, 'outbox' | 'rights' | 'signal'>) => TerminalDesk
  readonly log: Logger
}

/** The live socket of one page. Nothing that it does throws. */
export class LiveSocket {
  readonly sessionId: string
  /** Undefined: an installation without a team. */
  readonly teamId: string | undefined
  readonly outbox: Outbox
  readonly #parts: LiveSocketParts
  readonly #desk: TerminalDesk
  readonly #subscriptions = new Map<number, () => void>()
  readonly #closing = new AbortController()
  #heardAt = performance.now()
  #isUsed = false
  #session: DashboardSession

  constructor(parts: LiveSocketParts) {
    const { socket, session } = parts
    this.#parts = parts
    this.sessionId = session.sessionId
    this.teamId = session.team?.id
    this.#session = session
    this.outbox = new Outbox(socket)
    const rights = { teamId: this.teamId ?? '', assertMayUse: () => this.#assertMayUse() }
    this.#desk = parts.desk({ outbox: this.outbox, rights, signal: this.#closing.signal })
    socket.on('message', (data, isBinary) => void this.#heard(data, isBinary))
    socket.on('pong', () => (this.#heardAt = performance.now()))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.#closed())
  }

  /** Calls `onClose` once, when the socket has closed. */
  onClose(onClose: () => void): void {
    this.#parts.socket.once('close', onClose)
  }

  /** Whether the page has done something since the last call. */
  takeUse(): boolean {
    const isUsed = this.#isUsed
    this.#isUsed = false
    return isUsed
  }

  ping(): void {
    if (performance.now() - this.#heardAt > LIVE_SILENCE_MS) this.#parts.socket.terminate()
    else this.outbox.tell({ t: 'ping' })
  }

  /** What the database says of the session now; undefined: it has ended. */
  update(session: DashboardSession | undefined): void {
    if (session === undefined) {
      this.outbox.tell({ t: 'session.ended', message: 'You are logged out' })
      return this.close(LIVE_CLOSE.sessionEnded, 'the session has ended')
    }
    // Topics and shells belong to the team of the login.
    if (session.team?.id !== this.teamId) return this.close(LIVE_CLOSE.goingAway, 'another team was chosen')
    this.#session = session
    if (session.team?.isBlocked === true) this.#desk.close(teamBlocked(session.team.blockedReason).message)
  }

  close(code: number, reason: string): void {
    this.#parts.socket.close(code, reason)
    // A page that does not read does not close either.
    setTimeout(() => this.#parts.socket.terminate(), CLOSE_MS).unref()
  }

  async #heard(data: RawData, isBinary: boolean): Promise<void> {
    this.#heardAt = performance.now()
    let frame: ClientFrame | undefined
    try {
      if (isBinary) {
        this.#isUsed = true
        return this.#desk.type(toBytes(data))
      }
      frame = parseFrame(toBytes(data).toString('utf8'))
      if (frame === undefined) throw new AppError('invalid_argument', 'A frame is malformed')
      if (frame.t !== 'pong') await this.#handle(frame)
    } catch (err) {
      this.#refuse(frame, err)
    }
  }

  async #handle(frame: Exclude<ClientFrame, { readonly t: 'pong' }>): Promise<void> {
    this.#isUsed = true
    if (frame.t === 'sub') return this.#subscribe(frame.id, frame.topic)
    if (frame.t === 'unsub') return this.#unsubscribe(frame.id)
    if (this.teamId === undefined) throw noTeamYet()
    // A frame comes outside of every request.
    await runForOwner(this.teamId, () => this.#desk.handle(frame satisfies TerminalFrame))
  }

  #subscribe(id: number, text: string): void {
    const { topics, session } = this.#parts
    if (this.#subscriptions.has(id)) throw new AppError('conflict', 'The number of the subscription is in use')
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new AppError('resource_exhausted', `At most ${MAX_SUBSCRIPTIONS} topics in one tab`)
    const isOperator = session.role === 'operator'
    if (this.teamId === undefined && !isOperator) throw noTeamYet()
    const subscription = new Subscription(id, this.outbox, () => this.#unsubscribe(id))
    this.#subscriptions.set(id, topics.subscribe({ teamId: this.teamId ?? NIL_UUID, isOperator }, text, subscription))
    // Its topic may have refused it at once.
    if (subscription.isOver) this.#unsubscribe(id)
  }

  #unsubscribe(id: number): void {
    this.#subscriptions.get(id)?.()
    this.#subscriptions.delete(id)
  }

  #assertMayUse(): void {
    getSessionTeam(this.#session, { whileBlocked: false })
    assertMayChange(this.#session)
  }

  #refuse(frame: ClientFrame | undefined, err: unknown): void {
    if (this.#closing.signal.aborted) return
    if (!(err instanceof AppError)) this.#parts.log.warn({ err }, 'a frame of a live socket failed')
    const of = frame === undefined ? {} : 'request' in frame ? { request: frame.request } : 'id' in frame ? { id: frame.id } : {}
    this.outbox.tell({ t: 'error', ...of, ...describeError(err) })
  }

  #closed(): void {
    this.#closing.abort(new AppError('canceled', 'The page has gone'))
    for (const leave of this.#subscriptions.values()) leave()
    this.#subscriptions.clear()
    this.#desk[Symbol.dispose]()
  }
}

const CLOSE_MS = 2000

function toBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
