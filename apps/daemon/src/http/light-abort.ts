/**
 * An `AbortController` whose aborts without a reason share one. In the bundle it takes the place of Node's, which creates an exception with a
 * stack for each. The Connect library aborts two signals of every call without a reason, also of calls that succeed.
 */
const ABORTED: unknown = AbortSignal.abort().reason

class LightAbortController extends globalThis.AbortController {
  override abort(reason: unknown = ABORTED): void {
    super.abort(reason)
  }
}

export { LightAbortController as AbortController }
