import type { Page, Request } from 'playwright-core'

/** A screen asks for the next part within this time after an answer. */
const QUIET_MS = 100

/** Counts the requests of a page that have no answer yet. Playwright's own `networkidle` waits for half a second of silence on each screen. */
export class PendingRequests {
  readonly #pending = new Set<Request>()
  #changedAt = 0

  constructor(page: Page) {
    page.on('request', (request) => {
      this.#pending.add(request)
      this.#changedAt = performance.now()
    })
    const end = (request: Request): void => {
      this.#pending.delete(request)
      this.#changedAt = performance.now()
    }
    page.on('requestfinished', end)
    page.on('requestfailed', end)
    // The requests of the former document end without a word.
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) for (const request of this.#pending) if (!request.isNavigationRequest()) this.#pending.delete(request)
    })
  }

  isQuiet(): boolean {
    return this.#pending.size === 0 && performance.now() - this.#changedAt >= QUIET_MS
  }
}
