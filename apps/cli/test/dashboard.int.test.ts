import { afterAll, beforeAll, expect, it } from 'vitest'
import { Browser } from '../../api/test/support/dashboard-browser.ts'
import { createBench, type Bench } from './support/bench.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

it('prints a link that logs an operator in, once', async () => {
  const { code, stdout } = await bench.sandyard(['dashboard'])
  expect(code).toBe(0)
  const [, secret = ''] = /^http:\/\/\S+\/dashboard\/login#code=([\w-]{43})\n$/.exec(stdout) ?? []
  const first = await new Browser(bench.server).call('POST', '/api/login', { body: { code: secret } })
  expect(first).toMatchObject({ status: 200, body: { role: 'operator' } })
  expect((await new Browser(bench.server).call('POST', '/api/login', { body: { code: secret } })).status).toBe(401)
})
