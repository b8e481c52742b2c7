import type { ServerResponse } from 'node:http'
import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota } from '@sandyard/kit/limits/quota'
import { MAX_TEAM_TRANSFERS } from '@sandyard/dashboard-contract/limits'

/** Of all teams together. */
const MAX_TRANSFERS = 128

/** Counts uploads and downloads. */
export class TransferSlots {
  readonly #taken = new Quota({ all: MAX_TRANSFERS, one: MAX_TEAM_TRANSFERS })

  /**
   * Takes a slot until the answer has been sent or the client has gone. Call it before anything is awaited.
   *
   * @throws AppError `resource_exhausted`; `canceled` when the client has gone already
   */
  take(teamId: string, answer: ServerResponse): void {
    // Its end would not be told any more.
    if (answer.destroyed) throw new AppError('canceled', 'The client has gone')
    if (this.#taken.take(teamId) !== undefined) {
      throw new AppError('resource_exhausted', 'Too many files are being sent: wait until one is done', { headers: { 'retry-after': '1' } })
    }
    answer.once('close', () => this.#taken.release(teamId))
  }
}
