import pLimit, { type LimitFunction } from 'p-limit'
import { AppError } from '@sandyard/kit/errors/app-error'

export interface TurnLimits {
  /** At once, of one team. */
  readonly perTeam: number
  /** At once, of all teams together. */
  readonly inAll?: number
  /** More of one team than may wait are refused. */
  readonly waiting?: number
}

interface Team {
  readonly turns: LimitFunction
  /** Those of `turns` still have a job for a moment after it has ended. */
  count: number
}

/** In seconds. */
const RETRY_AFTER = '30'

/** Work in turns. A team takes no more of the turns, and no more of the places to wait for one, than its own. */
export class TeamTurns {
  readonly #limits: Required<TurnLimits>
  readonly #all: LimitFunction
  readonly #teams = new Map<string, Team>()

  constructor({ perTeam, inAll = Infinity, waiting = Infinity }: TurnLimits) {
    this.#limits = { perTeam, inAll, waiting }
    this.#all = pLimit(inAll)
  }

  /** @throws AppError `resource_exhausted` when `run` would refuse this team now */
  assertRoom(teamId: string): void {
    const count = this.#teams.get(teamId)?.count ?? 0
    if (count < this.#limits.perTeam + this.#limits.waiting) return
    throw new AppError('resource_exhausted', `The team has ${count} uploads under way: wait for some of them`, {
      headers: { 'retry-after': RETRY_AFTER },
    })
  }

  /** @throws AppError `resource_exhausted` when too many of the team wait already; what the work throws */
  async run<T>(teamId: string, work: () => Promise<T>): Promise<T> {
    this.assertRoom(teamId)
    const team = this.#teams.get(teamId) ?? { turns: pLimit(this.#limits.perTeam), count: 0 }
    this.#teams.set(teamId, team)
    team.count += 1
    try {
      return await team.turns(() => this.#all(work))
    } finally {
      team.count -= 1
      if (team.count === 0) this.#teams.delete(teamId)
    }
  }
}
