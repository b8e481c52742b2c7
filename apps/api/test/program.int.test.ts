import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { ApiProgram } from './support/api-program.ts'

// Each test loads the whole program.
vi.setConfig({ testTimeout: 120_000 })

const folder = mkdtempSync(join(tmpdir(), 'api-program-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const NOBODY = 'postgres://someone:hush-hush@127.0.0.1:1/none'

it.each<[string, NodeJS.ProcessEnv, number, RegExp]>([
  ['no database', {}, 78, /DATABASE_URL is required/],
  ['a wrong level', { DATABASE_URL: NOBODY, SANDYARD_LOG_LEVEL: 'loud' }, 78, /SANDYARD_LOG_LEVEL is one of/],
  ['a wrong setting of the control plane', { DATABASE_URL: NOBODY, SANDYARD_MAX_SANDBOX_LIFETIME: '48h' }, 78, /between 1s and 24h/],
  ['a wrong port of the egress gateway', { DATABASE_URL: NOBODY, SANDYARD_EGRESS_TCP_PORT: '99999' }, 78, /SANDYARD_EGRESS_TCP_PORT/],
  ['a database that does not answer', { DATABASE_URL: NOBODY }, 1, /\(127\.0\.0\.1:1\) cannot be used/],
  ['a URL of another kind', { DATABASE_URL: 'mysql://a:hush-hush@b/c' }, 1, /not the URL of a Postgres database/],
])('refuses %s with one sentence', async (_name, environment, code, sentence) => {
  const program = new ApiProgram({ DOCKER_HOST: `unix://${folder}/none.sock`, ...environment }, join(folder, 'data'))
  expect(await program.ended()).toBe(code)
  expect(program.errors).toMatch(sentence)
  expect(program.errors).not.toMatch(/^\s+at /m)
  expect(program.log + program.errors).not.toContain('hush-hush')
})
