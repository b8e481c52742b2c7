import { AppError } from '@sandyard/kit/errors/app-error'

export interface ServiceCaps {
  readonly perTeam: number
  readonly inAll: number
  /** Requests of a team in flight: one that stalls holds two connections of this server for minutes. */
  readonly requestsPerTeam: number
}

/** A file service takes some tens of MiB of the host while it runs. */
const CAPS: ServiceCaps = { perTeam: 32, inAll: 256, requestsPerTeam: 256 }
/** An unused service ends itself after two minutes. */
const IN_USE_MS = 120_000

interface Use {
  readonly teamId: string
  /** Requests in flight: their service lives as long as they do. */
  inFlight: number
  until: number
}

/** Counts the volumes whose file services were used within two minutes, so that a team cannot fill the host with them. Each server counts for itself. */
export class ServicesInUse {
  readonly #caps: ServiceCaps
  readonly #uses = new Map<string, Use>()

  constructor(caps: ServiceCaps = CAPS) {
    this.#caps = caps
  }

  /** Notes the begin of a request. @throws AppError `resource_exhausted` for one more volume or request than the caps allow */
  begin(volumeId: string, teamId: string, now: number): void {
    const ofTeam = [...this.#uses.values()].filter((other) => other.teamId === teamId)
    const requests = ofTeam.reduce((sum, other) => sum + other.inFlight, 0)
    if (requests >= this.#caps.requestsPerTeam) throw tooMany(`The team has ${requests} requests for the content of volumes in flight`)
    let use = this.#uses.get(volumeId)
    if (use === undefined) {
      for (const [id, { inFlight, until }] of this.#uses) if (inFlight === 0 && until <= now) this.#uses.delete(id)
      const used = ofTeam.filter(({ inFlight, until }) => inFlight > 0 || until > now).length
      if (used >= this.#caps.perTeam) throw tooMany(`The team uses the content of ${used} volumes at once`)
      if (this.#uses.size >= this.#caps.inAll) throw tooMany(`The server serves the content of ${this.#uses.size} volumes at once`)
      use = { teamId, inFlight: 0, until: 0 }
      this.#uses.set(volumeId, use)
    }
    use.inFlight += 1
  }

  /** Notes the end of a request; the service then lives for two minutes. */
  end(volumeId: string, now: number): void {
    const use = this.#uses.get(volumeId)
    if (use === undefined) return
    use.inFlight -= 1
    use.until = now + IN_USE_MS
  }
}

function tooMany(text: string): AppError {
  return new AppError('resource_exhausted', `${text}: try again in some minutes`, { headers: { 'retry-after': '60' } })
}
