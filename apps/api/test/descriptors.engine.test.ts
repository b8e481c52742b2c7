import { execFileSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { startPostgresServer } from '@sandyard/test-kit/postgres-server'
import { ApiProgram } from './support/api-program.ts'
import { waitFor } from './support/control-plane.ts'

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

it('a program without file descriptors answers what it cannot do with a sentence, and works again when it has some', async (context) => {
  const prlimit = findProgram('prlimit')
  if (prlimit === undefined) return context.skip('absent here: prlimit')
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
  expect(kept.status).toBe(201)
  const former = softLimit(program.pid)
  setLimit(NONE)
  const refused = await create()
  expect([500, 503, 504]).toContain(refused.status)
  expect(refused.body).toMatchObject({ message: expect.stringMatching(/^(Failed to place sandbox: |The database )/) })
  expect((await ask('GET', '/v2/sandboxes')).body.message).not.toBe('Internal server error')
  const unanswered = ask('GET', '/health', { by: false }).catch((err: unknown) => err)
  setLimit(former)
  // Its connection is ended, or accepted when there are descriptors again.
  expect(await unanswered).not.toMatchObject({ name: 'TimeoutError' })
  await waitFor('a create', async () => (await create(false)).status === 201)
  expect((await ask('GET', '/ready', { by: false })).status).toBe(200)
  expect((await ask('GET', `/sandboxes/${kept.body.sandboxID}`)).status).toBe(200)
  expect(await program.ended('SIGTERM')).toBe(0)
}, 300_000)
