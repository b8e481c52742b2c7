import { startPostgresServer, type PostgresServer } from './postgres-server.ts'

let server: PostgresServer | undefined

/** Starts one server for a whole test run. vitest calls this before the workers start, and they inherit the variable. */
export async function setup(): Promise<void> {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return
  server = await startPostgresServer()
  process.env['TEST_DATABASE_URL'] = server.url
}

export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]()
}
