import { mkdirSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll } from 'vitest'

/** A folder: each test file writes the statements that the product has sent in it. Set by `npm run schema:record`. */
const folder = process.env['SANDYARD_RECORD_STATEMENTS']

/** What `PREPARE` accepts. */
const PREPARABLE = /^\s*(?:select|insert|update|delete|merge|with)\b/i
const FRAME = /\/(?:apps|packages)\/([^/]+)\/(src|test)\/([^:)]*)/g
/** They send the statements of others. */
const CARRIERS: ReadonlySet<string> = new Set(['db/connection-pool.ts', 'db/database.ts'])

/** It brings its own table to the form that it needs. */
const MIGRATOR = 'db/migration-session.ts'

/** Whether product code, not a test, has called: by the innermost frame of ours that does not carry the statements of others. */
function isOfProduct(stack: string): boolean {
  for (const [, part = '', kind, file = ''] of stack.matchAll(FRAME)) {
    if (part === 'test-kit' && file === 'record-statements.ts') continue
    if (CARRIERS.has(`${part}/${file}`)) continue
    if (`${part}/${file}` === MIGRATOR) return false
    return kind === 'src' && part !== 'test-kit'
  }
  return false
}

if (folder !== undefined) {
  Error.stackTraceLimit = 100
  const statements = new Set<string>()
  // oxlint-disable-next-line typescript/unbound-method -- called with its own client below
  const query = Client.prototype.query as (this: Client, ...args: unknown[]) => unknown
  Client.prototype.query = function record(this: Client, ...args: unknown[]): unknown {
    const [first] = args
    const text = typeof first === 'string' ? first : (first as { readonly text?: unknown } | undefined)?.text
    if (typeof text === 'string' && PREPARABLE.test(text) && isOfProduct(new Error('a statement').stack ?? '')) statements.add(text)
    return query.apply(this, args)
  } as typeof Client.prototype.query
  afterAll(() => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify([...statements]))
  })
}
