import { AppError } from '@sandyard/kit/errors/app-error'

/** The second one waits in the database while the first one commits. */
const AT_ONCE = 2
/** Of one team. Each keeps its body in memory. */
const MAX_WAITING = 512
/** As long as a query waits for a connection. */
const WAIT_MS = 10_000

interface Team {
  busy: number
  readonly waiting: PromiseWithResolvers<void>[]
}

/**
 * Lets creates and resumes, which lock the row of a team (`lockTeam`), wait for each other here and not in the database, where each would hold a connection: a
 * burst of one team would take all of them from the others.
 */
export class TeamTurns {
  readonly #teams = new Map<string, Team>()

  /** @throws AppError `unavailable` when too many of the team wait or the others take too long; the error of `work` */
  async run<T>(teamId: string, work: () => Promise<T>): Promise<T> {
    const team = this.#teams.get(teamId) ?? { busy: 0, waiting: [] }
    this.#teams.set(teamId, team)
    if (team.busy < AT_ONCE) team.busy += 1
    else await turnOf(team)
    try {
      return await work()
    } finally {
      const next = team.waiting.shift()
      if (next !== undefined) next.resolve()
      else team.busy -= 1
      if (team.busy === 0) this.#teams.delete(teamId)
    }
  }
}

/** Resolves with a turn that another one has ended. */
async function turnOf({ waiting }: Team): Promise<void> {
  if (waiting.length >= MAX_WAITING) throw tooMany()
  const turn = Promise.withResolvers<void>()
  waiting.push(turn)
  const late = setTimeout(() => {
    waiting.splice(waiting.indexOf(turn), 1)
    turn.reject(tooMany())
  }, WAIT_MS)
  try {
    await turn.promise
  } finally {
    clearTimeout(late)
  }
}

function tooMany(): AppError {
  return new AppError('unavailable', 'Too many requests of the team wait for each other: try again', { headers: { 'retry-after': '1' } })
}
