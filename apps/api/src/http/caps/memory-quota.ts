import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota } from '@sandyard/kit/limits/quota'
import type { CountRefused, RequestCap } from './request-cap.ts'

const MIB = 1024 ** 2

/** Bytes. Ordinary requests are never refused for the large ones of others. */
const CAPS = { all: 256 * MIB, one: 64 * MIB, guaranteed: MIB / 4 }

export interface MemoryQuotaOptions {
  readonly cap: RequestCap
  /** Of the refusal, for the client. */
  readonly message: string
  readonly countRefused: CountRefused
}

/** Memory that requests keep, by the owner of each. */
export class MemoryQuota {
  readonly #quota = new Quota(CAPS)
  readonly #options: MemoryQuotaOptions

  constructor(options: MemoryQuotaOptions) {
    this.#options = options
  }

  /** @throws AppError `resource_exhausted` above a cap */
  take(owner: string, bytes: number): void {
    if (this.#quota.take(owner, bytes) === undefined) return
    const { cap, message, countRefused } = this.#options
    countRefused(cap)
    throw new AppError('resource_exhausted', message, { headers: { 'retry-after': '1' } })
  }

  release(owner: string, bytes: number): void {
    this.#quota.release(owner, bytes)
  }
}
