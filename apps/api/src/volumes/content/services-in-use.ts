import { AppError } from '@sandyard/kit/errors/app-error'

export interface ServiceCaps {
  readonly perTeam: number
  readonly inAll: number
}

/** A file service takes some tens of MiB of the host while it runs. */
const CAPS: ServiceCaps = { perTeam: 32, inAll: 256 }
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

  /** Notes the begin of a request. @throws AppError `resource_exhausted` for one more volume than the caps allow */
  begin(volumeId: string, teamId: string, now: number): void {
    let use = this.#uses.get(volumeId)
    if (use === undefined) {
      for (const [id, { inFlight, until }] of this.#uses) if (inFlight === 0 && until <= now) this.#uses.delete(id)
      const ofTeam = [...this.#uses.values()].filter((other) => other.teamId === teamId).length
      if (ofTeam >= this.#caps.perTeam) throw tooMany(`The team uses the content of ${ofTeam} volumes at once`)
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
