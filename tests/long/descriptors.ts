/**
 * Takes the file descriptors from a control plane that runs, and gives them back: `npm run long:descriptors`. Needs root, an engine and `prlimit`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../packages/runtime-docker/src/host/find-program.ts'
import { connectEngine } from '../../packages/runtime-docker/src/engine/connect-engine.ts'
import { removeInstallations } from '../../packages/runtime-docker/src/remove-installation.ts'
import { startPostgresServer } from '../../packages/test-kit/src/postgres-server.ts'
import { pollUntil } from '../../packages/kit/src/async/poll-until.ts'
import { ApiProgram } from '../../apps/api/test/support/api-program.ts'

// oxlint-disable-next-line node/no-process-env -- selects the engine under test
const ENGINE = process.env['DOCKER_HOST']
const ANSWER_TIMEOUT_MS = 70_000

/** What the program has open stays open. It gets no other file. */
const NONE = 3

interface Answer {
  readonly status: number
  readonly body: { readonly message?: string; readonly sandboxID?: string }
}

const softLimit = (pid: number): number => Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1])

async function main(): Promise<void> {
  const prlimit = findProgram('prlimit')
  if (prlimit === undefined) throw new Error('the program prlimit is missing')
  await using postgres = await startPostgresServer()
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'api-program-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  stack.defer(async () => removeInstallations(await connectEngine(ENGINE), [readFileSync(join(folder, 'installation'), 'utf8').trim()]))
  const program = new ApiProgram({ DATABASE_URL: postgres.url, DOCKER_HOST: ENGINE }, folder)
  stack.defer(async () => void (await program.ended('SIGKILL')))
  const { port } = await program.listening()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  stack.defer(() => agent.destroy())
  const { apiKey } = program

  const ask = (method: string, path: string, { body, by = agent }: { body?: object; by?: Agent | false } = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
      request({ port, method, path, agent: by, headers, signal }, (answer) => {
        const status = answer.statusCode ?? 0
        text(answer).then((read) => resolve({ status, body: read.startsWith('{') ? (JSON.parse(read) as Answer['body']) : {} }), reject)
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  const create = (by: Agent | false = agent): Promise<Answer> => ask('POST', '/v2/sandboxes', { body: { templateID: 'base' }, by })
  const setLimit = (limit: number): unknown => execFileSync(prlimit, [`--pid=${program.pid}`, `--nofile=${limit}:`])

  const kept = await create()
  assert.equal(kept.status, 201)
  const former = softLimit(program.pid)
  setLimit(NONE)
  const refused = await create()
  assert.ok([500, 503, 504].includes(refused.status))
  assert.match(refused.body.message ?? '', /^(Failed to place sandbox: |The database )/)
  assert.notEqual((await ask('GET', '/v2/sandboxes')).body.message, 'Internal server error')
  const unanswered = ask('GET', '/health', { by: false }).catch((err: unknown) => err)
  setLimit(former)
  // Its connection is ended, or accepted when there are descriptors again.
  assert.notEqual(((await unanswered) as Partial<Error>).name, 'TimeoutError')
  await pollUntil({ what: 'a create', timeoutMs: 20_000, everyMs: 10 }, async () =>
    (await create(false)).status === 201 ? true : undefined,
  )
  assert.equal((await ask('GET', '/ready', { by: false })).status, 200)
  assert.equal((await ask('GET', `/sandboxes/${kept.body.sandboxID}`)).status, 200)
  assert.equal(await program.ended('SIGTERM'), 0)
  console.log('the program answered with sentences, and works again')
}

await main()
