import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RELEASE } from '../packages/kit/src/config/release.ts'
import { startPostgresServer } from '../packages/test-kit/src/postgres-server.ts'
import { distinctStatements, readReleaseSchema, type SchemaRecord } from '../packages/test-kit/src/schema-record.ts'
import type { Counts } from './gate/counts.ts'
import { ROOT, runCommand } from './gate/run-command.ts'

/**
 * `npm run schema:record`, once for each release, before its tag: runs the integration tests of the programs that speak to Postgres, and writes the statements
 * that these programs send, with the schema, to `tests/schema/<release>.json`. Later migrations are tested against it.
 */
const PROGRAMS = ['apps/api', 'apps/proxy', 'apps/egress']
const TIMEOUT_MS = 1_800_000

const scratch = mkdtempSync(join(tmpdir(), 'sandyard-statements-'))
const folder = join(scratch, 'statements')
const report = join(scratch, 'report.json')
await using postgres = await startPostgresServer()
try {
  const environment = { TEST_DATABASE_URL: postgres.url, SANDYARD_RECORD_STATEMENTS: folder, SANDYARD_TEST_REPORT: report }
  await runCommand('vitest', ['run', '--project', 'integration', ...PROGRAMS], { timeoutMs: TIMEOUT_MS, isLive: true, environment })
  const { failed, failures } = JSON.parse(readFileSync(report, 'utf8')) as Counts
  if (failed > 0) throw new Error(`The record would not be complete, so nothing was written: ${failures.join('; ')}`)
  const statements = readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[])
  const record: SchemaRecord = {
    release: RELEASE,
    statements: distinctStatements(statements),
    schema: await readReleaseSchema(postgres.url),
  }
  const file = `tests/schema/${RELEASE}.json`
  writeFileSync(join(ROOT, file), `${JSON.stringify(record, undefined, 2)}\n`)
  console.log(`${record.statements.length} statements were written to ${file}.`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
