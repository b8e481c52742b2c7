/** What other parts and servers tell the live topics. `teamId` undefined: not known, as with `route_changed`. */
export type Change =
  | { readonly kind: 'sandbox'; readonly id: string; readonly teamId: string | undefined }
  | { readonly kind: 'build'; readonly id: string; readonly teamId: string | undefined }
  | { readonly kind: 'event' | 'job' | 'terminal' | 'session' | 'host'; readonly id: string; readonly teamId: string | undefined }
  /** Notifications may have been missed: everything is read again. */
  | { readonly kind: 'all' }

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
}
