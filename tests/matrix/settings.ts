import { startTestServer } from '../../tools/gate/test-server.ts'

/** The server under test, as its clients are told. */
export interface MatrixServer extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>
}

/** Older command lines want the access token, too. */
const NAMES = ['E2B_API_KEY', 'E2B_ACCESS_TOKEN', 'E2B_API_URL', 'E2B_SANDBOX_URL', 'E2B_VOLUME_API_URL', 'E2B_DOMAIN']

/** The server that the environment names, or one that is started and stopped with the run. */
export async function findServer(): Promise<MatrixServer> {
  if (process.env['E2B_API_URL'] !== undefined) {
    if (process.env['E2B_API_KEY'] === undefined) throw new Error('E2B_API_URL is set, and E2B_API_KEY is not.')
    return { settings: pick(process.env), [Symbol.asyncDispose]: async () => {} }
  }
  console.log('starting a server of its own (set E2B_API_URL and E2B_API_KEY for another one)')
  const server = await startTestServer()
  return { settings: pick(server.environment), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
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

function pick(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])))
}
