/** A daemon refused a call or did not answer. */
export class DaemonCallError extends Error {
  override readonly name = 'DaemonCallError'
  /** A code of the Connect protocol: `unauthenticated` for an unknown user, `deadline_exceeded`, and so on. */
  readonly code: string
  readonly detail: string

  constructor(code: string, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`${code}: ${detail}`, options)
    this.code = code
    this.detail = detail
  }
}
