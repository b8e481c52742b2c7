import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'
import type { BucketLimit } from './token-bucket.ts'

/** How often a team may call each limited operation, by its id. */
export type RateLimits = ReadonlyMap<string, BucketLimit>

const FORM = /^(\w+)=(\d+)(?:\/(\d+))?:(\d+)$/

/** Reads `<operation>=<rate>[/<period in seconds>]:<burst>`; an error text for what is none. */
export function parseRateLimit(text: string): readonly [OperationId, BucketLimit] | string {
  const [, name, rate = '0', period = '1', burst = '0'] = FORM.exec(text) ?? []
  const id = OPERATIONS.find((operation) => operation.id === name)?.id
  const limit = { rate: Number(rate), periodSeconds: Number(period), burst: Number(burst) }
  if (id === undefined || limit.rate < 1 || limit.periodSeconds < 1 || limit.burst < 1) {
    return `SANDYARD_RATE_LIMITS has "${text}", which is not <operation>=<rate>/<period in seconds>:<burst>`
  }
  return [id, limit]
}
