import { getTeam, type Principal } from '../auth/principal.ts'

/** Who or what caused a change of a sandbox; each event stores it. */
export type Actor =
  | ({ readonly kind: 'key'; readonly keyId: string } & Way)
  | ({ readonly kind: 'user'; readonly userId: string } & Way)
  | ({ readonly kind: 'admin' } & Way)
  /** The end time was reached. */
  | { readonly kind: 'timeout' }
  /** A request to the sandbox woke it. */
  | { readonly kind: 'traffic' }
  /** This server: repairs, limits. */
  | { readonly kind: 'server' }

interface Way {
  /** It was done in the dashboard. */
  readonly via?: 'dashboard'
}

export const TIMEOUT: Actor = { kind: 'timeout' }
export const TRAFFIC: Actor = { kind: 'traffic' }
export const SERVER: Actor = { kind: 'server' }

export function actorOf(principal: Principal | null): Actor {
  getTeam(principal)
  const way: Way = principal?.dashboardSessionId === undefined ? {} : { via: 'dashboard' }
  if (principal?.apiKeyId !== undefined) return { kind: 'key', keyId: principal.apiKeyId, ...way }
  if (principal?.user !== undefined) return { kind: 'user', userId: principal.user.id, ...way }
  return { kind: 'admin', ...way }
}
