import { startTestServer } from '../../tools/gate/test-server.ts'
import { clientSettings } from './settings.ts'

/** The server under test, as its clients are told. */
export interface MatrixServer extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>
}

/** The server that the environment names, or one that is started and stopped with the run. */
export async function findServer(): Promise<MatrixServer> {
  if (process.env['E2B_API_URL'] !== undefined) {
    if (process.env['E2B_API_KEY'] === undefined) throw new Error('E2B_API_URL is set, and E2B_API_KEY is not.')
    return { settings: clientSettings(process.env), [Symbol.asyncDispose]: async () => {} }
  }
  console.log('starting a server of its own (set E2B_API_URL and E2B_API_KEY for another one)')
  const server = await startTestServer()
  return { settings: clientSettings(server.environment), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
