import type { FastifyReply, FastifyRequest } from 'fastify'
import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'
import { AppError } from '@sandyard/kit/errors/app-error'
import { clientOf } from './caps/request-owner.ts'
import { TokenBuckets, type BucketLimit, type BucketState } from './token-bucket.ts'

/** By the id of an operation: how often one team may call it, or one client address where no team is known. */
export type RateLimits = ReadonlyMap<string, BucketLimit>

const LIMIT = /^(\d+)(?:\/(\d+))?:(\d+)$/

/** Reads `<rate>[/<period in seconds>]:<burst>`; undefined for other text. */
export function parseLimit(text: string): BucketLimit | undefined {
  const [, rate = '0', period = '1', burst = '0'] = LIMIT.exec(text) ?? []
  const limit = { rate: Number(rate), periodSeconds: Number(period), burst: Number(burst) }
  return limit.rate < 1 || limit.periodSeconds < 1 || limit.burst < 1 ? undefined : limit
}

/** Reads `<operation>=<rate>[/<period in seconds>]:<burst>`; an error message for other text. */
export function parseRateLimit(text: string): readonly [OperationId, BucketLimit] | string {
  const [name, value = '', ...rest] = text.split('=')
  const id = OPERATIONS.find((operation) => operation.id === name)?.id
  const limit = rest.length === 0 ? parseLimit(value) : undefined
  if (id === undefined || limit === undefined) {
    return `SANDYARD_RATE_LIMITS has "${text}", which is not <operation>=<rate>/<period in seconds>:<burst>`
  }
  return [id, limit]
}

export interface RequestLimitsOptions {
  readonly operations: RateLimits
  /** The limit for refused credentials of one client address. */
  readonly failures: BucketLimit
}

/** Counts requests (control-plane.md 1.11). Each server counts for itself. */
export class RequestLimits {
  readonly #options: RequestLimitsOptions
  readonly #teams = new TokenBuckets()
  /** A map of its own, so that many addresses do not evict the buckets of teams. */
  readonly #addresses = new TokenBuckets()
  readonly #failures = new TokenBuckets()

  constructor(options: RequestLimitsOptions) {
    this.#options = options
  }

  /**
   * Counts a request for its team, or for its client address where no team is known, if its operation has a limit.
   *
   * @throws AppError `resource_exhausted` above the limit
   */
  count(request: FastifyRequest, reply: FastifyReply): void {
    const id = request.routeOptions.config.operation?.id
    const limit = id === undefined ? undefined : this.#options.operations.get(id)
    if (limit === undefined) return
    const teamId = request.principal?.team?.id
    const state =
      teamId === undefined ? this.#addresses.take(`${clientOf(request)} ${id}`, limit) : this.#teams.take(`${teamId} ${id}`, limit)
    void reply.headers({ 'ratelimit-limit': limit.burst, 'ratelimit-remaining': state.remaining, 'ratelimit-reset': state.resetSeconds })
    if (!state.isAllowed) throw tooMany(state)
  }

  /** Counts a refused credential. @throws AppError `resource_exhausted` above the limit */
  countFailure(request: FastifyRequest): void {
    const state = this.#failures.take(clientOf(request), this.#options.failures)
    if (!state.isAllowed) throw tooMany(state)
  }

  /** @throws AppError `resource_exhausted` for an address with too many refused credentials: no further one is looked up for it */
  assertMayTry(request: FastifyRequest): void {
    const state = this.#failures.peek(clientOf(request), this.#options.failures)
    if (!state.isAllowed) throw tooMany(state)
  }
}

function tooMany({ retryAfterSeconds }: BucketState): AppError {
  return new AppError('resource_exhausted', 'Rate limit exceeded', { headers: { 'retry-after': String(retryAfterSeconds) } })
}
