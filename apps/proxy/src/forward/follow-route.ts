import { ProxyError } from '../answers/proxy-error.ts'

/** The run of the sandbox ended, and the request may be routed again: nothing was sent, or it may be repeated. The sandbox may run elsewhere. */
export class StaleRoute extends ProxyError {
  constructor(sandboxId: string, cause: unknown) {
    super({ kind: 'not_found', sandboxId }, cause)
  }
}

const MAX_ATTEMPTS = 3

/**
 * Routes and forwards a request, again while its route is found to be stale: a pause or a move of the sandbox that comes with the
 * request costs it nothing.
 *
 * @param attempt throws StaleRoute when it may be made again
 */
export async function followRoute(attempt: () => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (err) {
      if (!(err instanceof StaleRoute) || attempts === MAX_ATTEMPTS) throw err
    }
  }
}
