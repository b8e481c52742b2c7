import { env, SettingProblem, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

/** The settings of an OpenID provider whose tokens are accepted. */
export const OIDC_SETTINGS = {
  oidcIssuer: env.checked('SANDYARD_OIDC_ISSUER', readIssuer, {
    default: undefined,
    kind: 'text',
    doc: 'URL of an OpenID provider, exactly as in the `iss` of its tokens; its users may send them as bearer tokens. None by default.',
  }),
  oidcAudience: env.text('SANDYARD_OIDC_AUDIENCE', {
    default: undefined,
    doc: 'what the `aud` of these tokens must have; required with SANDYARD_OIDC_ISSUER',
  }),
  oidcCreateUsers: env.boolean('SANDYARD_OIDC_CREATE_USERS', {
    default: false,
    doc: 'whether an unknown user of the provider with a verified address gets an account and a team; else the token is refused',
  }),
} satisfies ConfigSchema

export interface OidcConfig {
  /** As the `iss` of tokens. */
  readonly issuer: string
  readonly audience: string
  readonly createsUsers: boolean
}

/** Checks the settings; undefined without a provider. Adds a message for each wrong one to `problems`. */
export function checkOidcSettings(settings: ConfigOf<typeof OIDC_SETTINGS>, problems: string[]): OidcConfig | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcCreateUsers: createsUsers } = settings
  if (issuer === undefined) return undefined
  if (audience === undefined) problems.push('SANDYARD_OIDC_AUDIENCE is required with SANDYARD_OIDC_ISSUER')
  return { issuer, audience: audience ?? '', createsUsers }
}

/** OpenID Connect Discovery 1.0, 3: a URL without query and fragment. */
function readIssuer(text: string): string {
  const url = URL.parse(text)
  const isIssuer = url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && url.username === '' && url.password === ''
  if (!isIssuer) throw new SettingProblem('must be an http or https URL without credentials, query and fragment')
  return text
}
