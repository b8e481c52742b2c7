/** What a user does at a shell, with a sandbox that a program made: releases differ in how `sandbox create` works without a terminal. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { finish, step } from './steps.mjs'

const run = promisify(execFile)
const program = createRequire(import.meta.url).resolve('@e2b/cli/dist/index.js')

async function e2b(...args) {
  const running = run(process.execPath, [program, ...args], { timeout: 60_000 })
  running.child.stdin.end()
  return (await running).stdout
}

async function api(method, path, body) {
  const headers = { 'X-API-KEY': process.env.E2B_API_KEY, 'Content-Type': 'application/json' }
  const answer = await fetch(`${process.env.E2B_API_URL}${path}`, { method, headers, body: body && JSON.stringify(body) })
  return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() }
}

const { body: sandbox } = await step('create', () => api('POST', '/sandboxes', { templateID: 'base', timeout: 120 }))
const id = sandbox.sandboxID
try {
  await step('sandbox list', async () => assert.ok((await e2b('sandbox', 'list')).includes(id)))
  await step('sandbox info', async () => assert.ok((await e2b('sandbox', 'info', id)).includes(id)))
  const help = await e2b('sandbox', '--help')
  if (/^\s+exec\b/m.test(help)) {
    await step('sandbox exec', async () => assert.equal(await e2b('sandbox', 'exec', id, 'echo', 'hello'), 'hello\n'))
    await step('sandbox exec, exit code', () => assert.rejects(e2b('sandbox', 'exec', id, 'ls', '/missing'), { code: 2 }))
  }
  await step('sandbox metrics', () => e2b('sandbox', 'metrics', id))
  await step('sandbox logs', () => e2b('sandbox', 'logs', id))
  await step('template list', async () => assert.ok((await e2b('template', 'list')).includes('base')))
  await step('sandbox kill', async () => {
    await e2b('sandbox', 'kill', id)
    assert.equal((await api('GET', `/sandboxes/${id}`)).status, 404)
  })
} finally {
  await api('DELETE', `/sandboxes/${id}`)
}
finish()
