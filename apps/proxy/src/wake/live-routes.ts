import { ProxyError } from '../answers/proxy-error.ts'
import type { TokenChecks } from '../access/token-checks.ts'
import { Quota } from '@sandyard/kit/limits/quota'
import type { Visit } from '../forward/find-exchange.ts'
import { ClientGone } from '../forward/forwarding.ts'
import type { RouteCatalog } from '../routes/route-catalog.ts'
import type { RouteChanges } from '../routes/route-changes.ts'
import { isLive, isTransitional, type LiveRoute, type Route } from '../routes/route.ts'
import type { Wakes } from './wakes.ts'
import type { RequestHead } from '../message/downstream-message.ts'

export interface LiveRoutesParts {
  readonly catalog: RouteCatalog
  readonly changes: RouteChanges
  readonly checks: TokenChecks
  readonly wakes: Wakes
  readonly limits: WaitLimits
  /** The client that a request counts for. */
  readonly clientOf: (req: RequestHead) => string | undefined
}

interface WaitLimits {
  /** Requests that wait at once, of all sandboxes and of one. */
  readonly maxWaiting: number
  readonly maxSandboxWaiting: number
  /** How long one request waits. */
  readonly waitTimeoutMs: number
}

/** One client may use half of the waiting requests, so that it cannot block those of others. */
const CLIENT_SHARE = 2
/** How often a request may wait for the end of a transition or for a resume; more means that the sandbox flaps (control-plane.md 19.6). */
const MAX_ROUNDS = 3
/** How often a waiting request reads the row again, in case a notification was lost. */
const POLL_MS = 1000

/**
 * Finds running sandboxes for requests. A request for a sandbox that is in a transition waits for its end; one for a paused sandbox
 * that traffic resumes has it resumed (control-plane.md 19.6). Nothing of the body of such a request is read meanwhile.
 */
export class LiveRoutes {
  readonly #parts: LiveRoutesParts
  readonly #bySandbox: Quota
  readonly #byClient: Quota
  readonly #stopping = new AbortController()

  constructor(parts: LiveRoutesParts) {
    this.#parts = parts
    const { maxWaiting, maxSandboxWaiting } = parts.limits
    this.#bySandbox = new Quota({ all: maxWaiting, one: maxSandboxWaiting })
    this.#byClient = new Quota({ all: maxWaiting, one: Math.ceil(maxWaiting / CLIENT_SHARE) })
  }

  /** Requests that wait now. */
  get waiting(): number {
    return this.#bySandbox.count
  }

  /** The route of a sandbox that runs, when it is cached. */
  known(sandboxId: string): LiveRoute | undefined {
    const route = this.#parts.catalog.peek(sandboxId)
    return isLive(route) ? route : undefined
  }

  /**
   * @throws ProxyError `not_found`, `resume_refused`, `resume_limit`, `transitioning` after the longest wait, `limit`, `unavailable`
   * when the proxy stops; ClientGone; any error of the catalog or of the seed
   */
  async find(visit: Visit): Promise<LiveRoute> {
    const route = await this.#parts.catalog.find(visit.sandboxId)
    if (isLive(route)) return route
    const { sandboxId } = visit
    if (!isTransitional(route) && !mayWake(route, visit)) throw new ProxyError({ kind: 'not_found', sandboxId })
    const leave = this.#enter(sandboxId, this.#parts.clientOf(visit.req))
    try {
      return await this.#whileClientWaits(visit, (signal) => this.#await(visit, signal))
    } finally {
      leave()
    }
  }

  /** Ends every wait. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Counts a waiting request until the returned function is called. */
  #enter(sandboxId: string, client: string | undefined): () => void {
    const ofClient = this.#byClient.take(client)
    if (ofClient !== undefined) throw new ProxyError({ kind: 'limit', cap: 'waiting', limit: ofClient.limit, sandboxId })
    const ofSandbox = this.#bySandbox.take(sandboxId)
    if (ofSandbox !== undefined) {
      this.#byClient.release(client)
      throw new ProxyError({ kind: 'limit', cap: 'sandbox_waiting', limit: ofSandbox.limit, sandboxId })
    }
    return () => {
      this.#bySandbox.release(sandboxId)
      this.#byClient.release(client)
    }
  }

  async #await(visit: Visit, signal: AbortSignal): Promise<LiveRoute> {
    const { checks, wakes } = this.#parts
    const { sandboxId } = visit
    for (let round = 0; ; round++) {
      const route = await this.#settled(sandboxId, signal)
      if (isLive(route)) return route
      if (!mayWake(route, visit)) throw new ProxyError({ kind: 'not_found', sandboxId })
      if (!(await checks.mayResume(visit, route))) throw new ProxyError({ kind: 'resume_refused', sandboxId })
      if (round === MAX_ROUNDS) throw new ProxyError({ kind: 'transitioning', sandboxId })
      const answer = await wakes.wake(route, signal)
      // When it runs, its row is read again: only that says where it is.
      if (answer.kind !== 'running') throw new ProxyError({ ...answer, sandboxId })
    }
  }

  /** The route after the transition in progress. */
  async #settled(sandboxId: string, signal: AbortSignal): Promise<Route | undefined> {
    while (true) {
      // Before the read, so that no change is missed.
      using change = this.#parts.changes.watch(sandboxId)
      const route = await this.#parts.catalog.find(sandboxId)
      if (!isTransitional(route)) return route
      await change.changed(POLL_MS, signal)
    }
  }

  async #whileClientWaits<T>({ req: { socket }, sandboxId }: Visit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (socket.destroyed) throw new ClientGone()
    const ended = new AbortController()
    const { signal: stopping } = this.#stopping
    const late = setTimeout(() => ended.abort(new ProxyError({ kind: 'transitioning', sandboxId })), this.#parts.limits.waitTimeoutMs)
    const onClose = (): void => ended.abort(new ClientGone())
    const onStop = (): void => ended.abort(new ProxyError({ kind: 'unavailable', sandboxId }))
    socket.once('close', onClose)
    stopping.addEventListener('abort', onStop)
    if (stopping.aborted) onStop()
    try {
      return await work(ended.signal)
    } finally {
      clearTimeout(late)
      socket.off('close', onClose)
      stopping.removeEventListener('abort', onStop)
    }
  }
}

function mayWake(route: Route | undefined, visit: Visit): route is Route {
  return route?.state === 'paused' && route.wakes && !asksForHealth(visit)
}

/**
 * Clients ask this to learn whether a sandbox runs, the SDKs also when a pause has cut a stream of theirs: 502 means that it does not
 * (clients.md 2.5). A resume for it would undo every pause under an open stream.
 */
function asksForHealth({ req: { method, url }, isDaemon }: Visit): boolean {
  return isDaemon && (method === 'GET' || method === 'HEAD') && url?.split('?', 1)[0] === '/health'
}
