import { Sandbox } from 'e2b'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { install } from './support/install.ts'

const BUILD_MS = 900_000

let sandbox: Sandbox
beforeAll(async () => {
  await install('httpbin')
  sandbox = await Sandbox.create('httpbin')
}, BUILD_MS)
afterAll(async () => sandbox?.kill())

it('serves on port 8080 through the proxy when the create has answered', async () => {
  const answer = await fetch(`${process.env['E2B_SANDBOX_URL']}/anything?a=b`, {
    headers: { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '8080', 'x-mine': 'yes' },
  })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ args: { a: 'b' }, headers: { 'X-Mine': 'yes' }, method: 'GET' })
})
