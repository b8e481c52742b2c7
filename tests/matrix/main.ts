/**
 * `npm run matrix`: runs published clients of the E2B interface against a server, and writes the results to `docs/clients.md`.
 *
 *     npm run matrix -- [--only <client>,...] [--newest] [--no-page] [--list]
 *
 * With `E2B_API_URL` and `E2B_API_KEY` in the environment it uses that server, otherwise it starts one. Ends with 1 if a flow fails.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../tools/gate/run-command.ts'
import { ALL_CLIENTS } from './clients/all-clients.ts'
import { updatePage } from './page.ts'
import { findServer } from './find-server.ts'
import type { Row } from './row.ts'
import { runClient } from './run-client.ts'

const PAGE = join(ROOT, 'docs/clients.md')

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    newest: { type: 'boolean', default: false },
    'no-page': { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const wanted = values.only?.split(',')
const unknown = wanted?.filter((part) => !ALL_CLIENTS.some((client) => matches(client.name, part))) ?? []
if (unknown.length > 0) throw new Error(`no client is named ${unknown.join(', ')}; --list prints the names`)
const clients = ALL_CLIENTS.filter(({ name }) => wanted === undefined || wanted.some((part) => matches(name, part)))

if (values.list) for (const { name, package: from, registry } of clients) console.log(`${name}: ${from} of ${registry}`)
else process.exitCode = await runMatrix()

async function runMatrix(): Promise<number> {
  await using server = await findServer()
  const rows: Row[] = []
  let failures = 0
  for (const client of clients) {
    const ran = await runClient(client, { settings: server.settings, newestOnly: values.newest, say: console.log })
    rows.push(...ran.rows)
    failures += ran.failures
    // After each client, so that a run that is stopped has written what it knows.
    if (!values['no-page'] && !values.newest) {
      const names = ALL_CLIENTS.map(({ name }) => name)
      writeFileSync(PAGE, updatePage(readFileSync(PAGE, 'utf8'), rows, names))
    }
  }
  console.log(`${rows.length} rows, ${failures} failed`)
  return failures === 0 ? 0 : 1
}

/** A part such as `e2b` names each client that begins with it and a space, or is it. */
function matches(name: string, part: string): boolean {
  return name === part || name.startsWith(`${part} `)
}
