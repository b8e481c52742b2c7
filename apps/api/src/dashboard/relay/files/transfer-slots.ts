import type { ServerResponse } from 'node:http'
import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_TEAM_TRANSFERS } from '@sandyard/dashboard-contract/limits'

/** Of all teams together. */
const MAX_TRANSFERS = 128

/** Counts uploads and downloads. */
export class TransferSlots {
  readonly #perTeam = new Map<string, number>()
  #all = 0

  /**
   * Takes a slot until the answer has been sent or the client has gone. Call it before anything is awaited.
   *
   * @throws AppError `resource_exhausted`; `canceled` when the client has gone already
   */
  take(teamId: string, answer: ServerResponse): void {
    // Its end would not be told any more.
    if (answer.destroyed) throw new AppError('canceled', 'The client has gone')
    const ofTeam = this.#perTeam.get(teamId) ?? 0
    if (ofTeam >= MAX_TEAM_TRANSFERS || this.#all >= MAX_TRANSFERS) {
      throw new AppError('resource_exhausted', 'Too many files are being sent: wait until one is done', { headers: { 'retry-after': '1' } })
    }
    this.#perTeam.set(teamId, ofTeam + 1)
    this.#all += 1
    answer.once('close', () => this.#release(teamId))
  }

  #release(teamId: string): void {
    this.#all -= 1
    const ofTeam = (this.#perTeam.get(teamId) ?? 1) - 1
    if (ofTeam === 0) this.#perTeam.delete(teamId)
    else this.#perTeam.set(teamId, ofTeam)
  }
}
