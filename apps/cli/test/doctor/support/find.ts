import { expect } from 'vitest'
import type { Finding } from '../../../src/doctor/check.ts'
import { openFacts, type FactsOptions } from '../../../src/doctor/facts/facts.ts'
import type { ServerAddresses } from '../../../src/doctor/facts/server-reader.ts'
import { runChecks } from '../../../src/doctor/run-checks.ts'
import { selectChecks } from '../../../src/doctor/select-checks.ts'

/** Nothing listens there. */
export const NOWHERE: ServerAddresses = {
  apiUrl: 'http://127.0.0.1:9',
  sandboxUrl: 'http://127.0.0.1:9',
  metricsUrl: 'http://127.0.0.1:9',
  apiKey: undefined,
}

const NO_ENGINE = 'unix:///nonexistent/engine.sock'

export type FindOptions = Partial<FactsOptions>

/** Runs one check against the facts of a test: without an engine, a database and a server, unless the test names them. */
export async function find(id: string, { environment = {}, addresses = NOWHERE, ...options }: FindOptions = {}): Promise<Finding> {
  const dataDir = options.dataDir ?? '/nonexistent'
  await using facts = openFacts({ ...options, addresses, dataDir, environment: { DOCKER_HOST: NO_ENGINE, ...environment } })
  for await (const { finding } of runChecks(selectChecks(id), facts, new AbortController().signal)) return finding
  throw new Error(`${id} did not run`)
}

/** Matches texts that contain it. */
export function saying(part: string | RegExp): string {
  return (typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part)) as string
}
