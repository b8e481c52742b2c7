import type { ApiConfig } from '../config.ts'

/** The issuer of the identity tokens of sandboxes: verifiers find the published keys below this URL. */
export function issuerOf({ builds, domain }: Pick<ApiConfig, 'builds' | 'domain'>): string {
  return builds.apiUrl ?? `https://api.${domain}`
}
