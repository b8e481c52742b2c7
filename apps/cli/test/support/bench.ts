import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorld, type Server, type ServerOptions, type World } from '../../../api/test/support/control-plane.ts'
import type { CliResult } from './run-cli.ts'
import { runHere } from './run-here.ts'

/** A control plane that listens, and the command line with the settings for it. */
export interface Bench extends AsyncDisposable {
  readonly world: World
  readonly server: Server
  readonly apiUrl: string
  /** The working directory of the command line; also its SANDYARD_DATA_DIR. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Runs the command line in this process. `env` adds to the settings; an empty value removes one. */
  sandyard(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly input?: string },
  ): Promise<CliResult>
}

export async function createBench(options: ServerOptions = {}): Promise<Bench> {
  const world = await createWorld()
  const server = await world.startServer(options)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const apiUrl = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-cli-'))
  const env = {
    E2B_API_KEY: world.credentials.apiKey,
    E2B_API_URL: apiUrl,
    DATABASE_URL: world.database.url,
    SANDYARD_DATA_DIR: folder,
  }
  return {
    world,
    server,
    apiUrl,
    folder,
    env,
    sandyard: (args, { env: more = {}, input = '' } = {}) => {
      const all = Object.entries({ ...env, ...more }).filter(([, value]) => value !== '')
      return runHere({ args, env: Object.fromEntries(all), cwd: folder, input })
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Creates a sandbox of the base template and returns its id. */
export async function createSandbox({ server }: Bench, body: object = {}): Promise<string> {
  const answer = await server.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })
  if (answer.status !== 201) throw new Error(answer.text)
  return (answer.body as { sandboxID: string }).sandboxID
}
