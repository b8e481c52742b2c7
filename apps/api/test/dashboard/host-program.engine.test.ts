import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { HealthReport } from '@sandyard/dashboard-contract/host'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { startPostgresServer } from '@sandyard/test-kit/postgres-server'
import { ApiProgram } from '../support/api-program.ts'

// oxlint-disable-next-line node/no-process-env -- selects the engine under test
const ENGINE = process.env['DOCKER_HOST']
const ADMIN_TOKEN = 'a-token-of-administrators-that-is-long'

it('checks the engine and the database of a program with its own settings, and lists the orphans of its installation', async () => {
  await using postgres = await startPostgresServer()
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'host-program-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const pages = mkdtempSync(join(tmpdir(), 'host-pages-'))
  stack.defer(() => rmSync(pages, { recursive: true, force: true }))
  writeFileSync(join(pages, 'index.html'), '<!doctype html>')
  const settings = { DATABASE_URL: postgres.url, DOCKER_HOST: ENGINE, SANDYARD_ADMIN_TOKEN: ADMIN_TOKEN, SANDYARD_DASHBOARD_DIST: pages }
  const program = new ApiProgram(settings, folder)
  stack.defer(async () => void (await program.ended('SIGKILL')))
  const { port } = await program.listening()
  const id = readFileSync(join(folder, 'installation'), 'utf8').trim()
  stack.defer(async () => removeInstallations(await connectEngine(ENGINE), [id]))

  const origin = `http://127.0.0.1:${port}`
  let cookie = ''
  const call = async (method: string, path: string, body?: object) => {
    const headers = { origin, cookie, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${origin}/dashboard/api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie
    return { status: answer.status, text: await answer.text() }
  }
  expect((await call('POST', '/login', { adminToken: ADMIN_TOKEN })).status).toBe(200)
  const begun = await call('POST', '/health/run', {})
  expect(begun.status, begun.text).toBe(202)
  const health = await pollUntil({ what: 'the result of the checks', timeoutMs: 120_000, everyMs: 200 }, async () => {
    const report = JSON.parse((await call('GET', '/health')).text) as HealthReport
    return report.state === 'running' ? undefined : report
  })
  expect(health, health.message ?? '').toMatchObject({ state: 'done' })
  const levelOf = (check: string): string | undefined => health.checks.find((found) => found.id === check)?.level
  expect([levelOf('E1'), levelOf('D1'), levelOf('R1')]).toEqual(['ok', 'ok', 'ok'])
  const orphans = await call('GET', '/orphans')
  expect(orphans.status, orphans.text).toBe(200)
  expect(JSON.parse(orphans.text)).toEqual({ data: [], isCut: false })
  expect(await program.ended('SIGTERM')).toBe(0)
})
