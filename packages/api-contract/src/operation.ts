/**
 * The sets of credentials that an operation accepts, by the names of control-plane.md 1.7: T team, TU team or user, U user,
 * G users for their teams, K key management, P provider, PT provider with a team, A administrator.
 */
export type AuthSet = 'none' | 'T' | 'TU' | 'U' | 'G' | 'K' | 'P' | 'PT' | 'A'

/** One wire operation of the control plane. */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** In OpenAPI notation: `/sandboxes/{sandboxID}`. */
  readonly path: string
  readonly auth: AuthSet
  /** Section of the documentation. */
  readonly tag: string
  readonly deprecated?: true
  /** One line for the documentation. */
  readonly summary: string
  /** An addition of this server, which the interface does not have. */
  readonly ours?: true
  /** Blocked teams may call it (control-plane.md 1.10). */
  readonly whileBlocked?: true
  /** It changes something although its method is GET. */
  readonly changes?: true
}

/** Whether an operation changes something: every call of it is recorded. */
export function isMutating({ method, changes }: Operation): boolean {
  return method !== 'GET' || changes === true
}
