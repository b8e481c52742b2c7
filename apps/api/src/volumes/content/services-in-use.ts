import { AppError } from '@sandyard/kit/errors/app-error'

export interface ServiceCaps {
  readonly perTeam: number
  readonly inAll: number
}

/** A file service takes some tens of MiB of the host while it runs. */
const CAPS: ServiceCaps = { perTeam: 32, inAll: 256 }
/** An unused service ends itself after two minutes. */
const IN_USE_MS = 120_000

/** Counts the volumes whose file services were used within two minutes, so that a team cannot fill the host with them. Each server counts for itself. */
export class ServicesInUse {
  readonly #caps: ServiceCaps
  readonly #uses = new Map<string, { readonly teamId: string; readonly until: number }>()

  constructor(caps: ServiceCaps = CAPS) {
    this.#caps = caps
  }

  /** Notes the use of a volume. @throws AppError `resource_exhausted` for one more than the caps allow */
  note(volumeId: string, teamId: string, now = performance.now()): void {
    if (!this.#uses.has(volumeId)) {
      for (const [id, { until }] of this.#uses) if (until <= now) this.#uses.delete(id)
      const ofTeam = [...this.#uses.values()].filter((use) => use.teamId === teamId).length
      if (ofTeam >= this.#caps.perTeam) throw tooMany(`The team uses the content of ${ofTeam} volumes at once`)
      if (this.#uses.size >= this.#caps.inAll) throw tooMany(`The server serves the content of ${this.#uses.size} volumes at once`)
    }
    this.#uses.set(volumeId, { teamId, until: now + IN_USE_MS })
  }
}

function tooMany(text: string): AppError {
  return new AppError('resource_exhausted', `${text}: try again in some minutes`, { headers: { 'retry-after': '60' } })
}
