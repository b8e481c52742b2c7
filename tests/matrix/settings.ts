/** Older command lines want the access token, too. */
const NAMES = ['E2B_API_KEY', 'E2B_ACCESS_TOKEN', 'E2B_API_URL', 'E2B_SANDBOX_URL', 'E2B_VOLUME_API_URL', 'E2B_DOMAIN']

/** What the clients are told of the server under test. */
export function clientSettings(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])))
}

/** Whether the team can create sandboxes of the template. */
export async function hasTemplate(settings: Readonly<Record<string, string>>, name: string): Promise<boolean> {
  const { status } = await fetch(`${settings['E2B_API_URL']}/templates/aliases/${encodeURIComponent(name)}`, {
    headers: { 'X-API-KEY': settings['E2B_API_KEY'] ?? '' },
    signal: AbortSignal.timeout(30_000),
  })
  if (status !== 200 && status !== 404) throw new Error(`the server answers ${status} to a question for the template ${name}`)
  return status === 200
}
