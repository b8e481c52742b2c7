/** What servers and their installation see of the environment of the gateway. The token of the gateway is not in it. */
const PASSED = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'LANG',
  'NODE_EXTRA_CA_CERTS',
  'NO_PROXY',
  'NPM_CONFIG_REGISTRY',
  'PATH',
  'PIP_CERT',
  'PIP_INDEX_URL',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_FILE',
  'TZ',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'npm_config_registry',
]

export interface User {
  readonly name: string
  /** Where the user's files are. */
  readonly home: string
}

export function childEnvironment(
  environment: NodeJS.ProcessEnv,
  user: User,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const passed = PASSED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const]))
  return { ...Object.fromEntries(passed), HOME: user.home, LOGNAME: user.name, USER: user.name, ...own }
}

/** The command as another user, for root; else as it is. */
export function asUser(user: User, command: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [...command]
  return ['setpriv', `--reuid=${user.name}`, `--regid=${user.name}`, '--init-groups', ...command]
}
