import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBench, type Bench } from './support/bench.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench({ loops: true })
})
afterAll(() => bench[Symbol.asyncDispose]())

const limits = async (...options: string[]) =>
  (JSON.parse((await bench.sandyard(['limits', '--json', ...options])).stdout) as { limits: Record<string, number | null> }).limits

it('changes the limits that are named, which servers keep at once', async () => {
  expect(await limits('--sandboxes', '1', '--lifetime', '2h', '--memory', '4GiB')).toMatchObject({
    sandboxes: 1,
    lifetime: 7200,
    memory: 4096,
    builds: null,
  })
  expect(await limits('--paused', '5', '--snapshots', '6', '--templates', '7')).toMatchObject({ paused: 5, snapshots: 6, templates: 7 })
  expect(await limits('--disk', '20GiB', '--stored', '500GiB')).toMatchObject({ disk: 20_480, stored: 500 * 1024 ** 3, memory: 4096 })
  const create = () => bench.server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
  expect([(await create()).status, (await create()).status]).toEqual([201, 429])
  expect(await limits('--sandboxes', 'default')).toMatchObject({ sandboxes: null, lifetime: 7200 })
  expect((await create()).status).toBe(201)
  const { stdout } = await bench.sandyard(['limits'])
  expect(stdout).toMatch(/sandboxes +default/)
  expect(stdout).toMatch(/lifetime +7200s/)
  expect(stdout).toMatch(/stored +500 GiB/)
})

it.each([
  ['--sandboxes', '0'],
  ['--sandboxes', 'many'],
  ['--lifetime', '25h'],
  ['--memory', '1KiB'],
  ['--creates', '1000001'],
])('refuses %s %s and changes nothing', async (...options) => {
  const before = await limits()
  const { code, stderr } = await bench.sandyard(['limits', ...options])
  expect([code, stderr]).toEqual([2, expect.stringContaining("'default'")])
  expect(await limits()).toEqual(before)
})
