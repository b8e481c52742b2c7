import { randomUUID } from 'node:crypto'
import { Sandbox, Secret, SecretNotFoundError } from 'e2b'
import { beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { findPython, runPython } from '../support/run-python.ts'

const operations = '[GET /secrets] [POST /secrets] [GET /secrets/{secretID}] [POST /secrets/{secretID}] [DELETE /secrets/{secretID}]'

let python = ''
let missing = ''
beforeAll(async () => {
  ;({ python, missing } = await findPython())
})

describe(`${operations} secrets`, () => {
  test('are created, updated, listed and deleted with the JavaScript SDK', async () => {
    const name = `acc-${randomUUID()}`
    const made = await Secret.create(name.toUpperCase(), 'the value', { metadata: { owner: 'me' } })
    expect(made).toMatchObject({ name, version: 1, metadata: { owner: 'me' } })
    expect(await Secret.update(name, 'another value')).toMatchObject({ secretId: made.secretId, version: 2, metadata: { owner: 'me' } })
    expect(await Secret.getInfo(made.secretId)).toMatchObject({ name, version: 2 })
    const pages = Secret.list({ limit: 1 })
    const seen: string[] = []
    while (pages.hasNext) seen.push(...(await pages.nextItems()).map((secret) => secret.name))
    expect(seen).toContain(name)
    expect([await Secret.destroy(name), await Secret.destroy(name), await Secret.exists(name)]).toEqual([true, false, false])
    await expect(Secret.getInfo(name)).rejects.toThrow(SecretNotFoundError)
  })

  test('are used the same way with Python e2b 2.63.0', async ({ skip }) => {
    skip(missing !== '', missing)
    expect(await runPython(python, 'team_secrets.py', 110_000)).toEqual({ status: 0, stdout: 'secrets done\n', stderr: expect.any(String) })
  })

  test('[POST /v2/sandboxes] [GET /sandboxes/{sandboxID}] are named by rules, which show the placeholder only', async () => {
    const name = `acc-${randomUUID()}`
    const value = `value-${randomUUID()}`
    await Secret.create(name, value)
    const headers = { Authorization: `Bearer ${Secret.fill(name)}` }
    const iam = { tokens: { outside: Secret.iamToken({ audience: 'outside', tokenType: 'JWT-SVID' }) } }
    const sandbox = await Sandbox.create({ iam, network: { rules: { 'api.example.com': [{ transform: { headers } }] } } })
    try {
      const shown = await callApi(`GET /sandboxes/${sandbox.sandboxId}`)
      expect(shown.body).toMatchObject({ network: { rules: { 'api.example.com': [{ transform: { headers } }] } } })
      expect(JSON.stringify(shown.body)).not.toContain(value)
      const { stdout } = await sandbox.commands.run('env; sudo cat /proc/*/environ 2> /dev/null; true')
      expect(stdout).not.toContain(value)
    } finally {
      await sandbox.kill()
      await Secret.destroy(name)
    }
  })
})
