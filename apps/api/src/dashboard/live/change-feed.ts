/** What other parts and servers tell the live topics. `teamId` undefined: not known, as with `route_changed`. */
export type Change =
  | { readonly kind: 'sandbox'; readonly id: string; readonly teamId: string | undefined }
  | { readonly kind: 'build'; readonly id: string; readonly teamId: string | undefined }
  /** An event of a team; `id` is that of the changed object. */
  | { readonly kind: 'event'; readonly event: string; readonly id: string; readonly teamId: string }
  | { readonly kind: 'job' | 'terminal' | 'session' | 'host'; readonly id: string; readonly teamId: string | undefined }
  /** Rights of credentials or teams. */
  | { readonly kind: 'auth' }
  /** Notifications may have been missed: everything is read again. */
  | { readonly kind: 'all' }

const TOLD = new Set<string>(['job', 'terminal', 'session', 'host'])

/** The payload of `event_appended`; undefined for one that is none. */
export function toEventChange(payload: string): Change | undefined {
  const [teamId, event, ...rest] = payload.split(' ')
  return teamId === undefined || event === undefined ? undefined : { kind: 'event', teamId, event, id: rest.join(' ') }
}

/** The payload of `dashboard_changed`; undefined for a kind that this release does not know. */
export function toDashboardChange(payload: string): Change | undefined {
  const [team, kind = '', id = ''] = payload.split(' ')
  if (!TOLD.has(kind)) return undefined
  return { kind: kind as 'job' | 'terminal' | 'session' | 'host', id, teamId: team === '-' ? undefined : team }
}

type Listener = (change: Change) => void

/** Carries notifications of the database to the live topics of this server. Listeners must not throw; they only mark what is to be read. */
export class ChangeFeed {
  readonly #listeners = new Set<Listener>()

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  /** Undefined: a notification that was not understood. */
  tellOf(change: Change | undefined): void {
    if (change !== undefined) this.tell(change)
  }
}
