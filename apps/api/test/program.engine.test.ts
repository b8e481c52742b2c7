import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { startPostgresServer } from '@sandyard/test-kit/postgres-server'
import { ApiProgram } from './support/api-program.ts'

// oxlint-disable-next-line node/no-process-env -- selects the engine under test
const ENGINE = process.env['DOCKER_HOST']

it('two programs start at once on one database and engine, keep the keys out of their logs, and stop in order', async () => {
  await using postgres = await startPostgresServer()
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'api-program-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const start = (name: string): ApiProgram => {
    const program = new ApiProgram({ DATABASE_URL: postgres.url, DOCKER_HOST: ENGINE }, join(folder, name))
    stack.defer(async () => void (await program.ended('SIGKILL')))
    return program
  }
  const programs = [start('one'), start('two')]
  await Promise.all(programs.map((program) => program.listening()))
  const id = readFileSync(join(folder, 'one/installation'), 'utf8').trim()
  stack.defer(async () => removeInstallations(await connectEngine(ENGINE), [id]))
  expect(readFileSync(join(folder, 'two/installation'), 'utf8').trim()).toBe(id)

  for (const [index, program] of programs.entries()) {
    const { apiKey, log } = program
    const { port, metricsPort } = await program.listening()
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/v2/sandboxes`, { headers: { 'X-API-Key': apiKey } })).status).toBe(200)
    expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain('sandyard_')
    expect(statSync(join(folder, index === 0 ? 'one' : 'two', 'credentials')).mode & 0o777).toBe(0o600)
    expect(log).not.toContain(apiKey)
    for (const line of log.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
  }
  for (const program of programs) expect(await program.ended('SIGTERM')).toBe(0)
})
