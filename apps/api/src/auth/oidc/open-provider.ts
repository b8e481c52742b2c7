import type { ApiConfig } from '../../config.ts'
import type { OidcProvider, OidcProviderParts } from './oidc-provider.ts'

/** The provider of the settings, if they name one. Only then the library that verifies its tokens is loaded. */
export async function openProvider(
  { oidc: config, outbound }: Pick<ApiConfig, 'oidc' | 'outbound'>,
  parts: Pick<OidcProviderParts, 'database' | 'log'>,
): Promise<OidcProvider | undefined> {
  if (config === undefined) return undefined
  const { OidcProvider } = await import('./oidc-provider.ts')
  return new OidcProvider({ ...parts, config, outbound })
}
