import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { createBench, type Bench } from './support/bench.ts'

const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
const idOf = (key: string): string => new KeyRing([new Secret(key)]).keyId

let bench: Bench
beforeAll(async () => {
  bench = await createBench({ env: { SANDYARD_SECRETS_KEY: first } })
  for (const name of ['a', 'b']) await bench.server.call('POST', '/secrets', { body: { name, value: 'the value' } })
})
afterAll(() => bench[Symbol.asyncDispose]())

const status = async (env: Record<string, string>): Promise<unknown> =>
  JSON.parse((await bench.sandyard(['secrets', 'status', '--json'], { env })).stdout)

it('shows the keys and rotates to the newest one, without keys and values', async () => {
  expect(await status({})).toEqual([{ keyId: idOf(first), values: 2, state: 'missing' }])
  expect(await status({ SANDYARD_SECRETS_KEY: first })).toEqual([{ keyId: idOf(first), values: 2, state: 'newest' }])
  const both = { SANDYARD_SECRETS_KEY: second, SANDYARD_SECRETS_OLD_KEYS: first }
  expect(await status(both)).toEqual([
    { keyId: idOf(second), values: 0, state: 'newest' },
    { keyId: idOf(first), values: 2, state: 'former' },
  ])
  const { code, stdout, stderr } = await bench.sandyard(['secrets', 'rotate'], { env: both })
  expect([code, stdout]).toEqual([0, `2 values are now encrypted with ${idOf(second)}\n`])
  expect(stdout + stderr).not.toMatch(new RegExp(`${first}|${second}|the value`))
  expect(await status({ SANDYARD_SECRETS_KEY: second })).toEqual([{ keyId: idOf(second), values: 2, state: 'newest' }])
})

it('reads the key that the server has made in its data directory, and refuses to rotate without one', async () => {
  const refused = await bench.sandyard(['secrets', 'rotate'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('SANDYARD_SECRETS_KEY')])
  mkdirSync(join(bench.folder, 'secrets'))
  writeFileSync(join(bench.folder, 'secrets', 'key'), `${second}\n`)
  expect(await status({})).toEqual([{ keyId: idOf(second), values: 2, state: 'newest' }])
  rmSync(join(bench.folder, 'secrets'), { recursive: true })
})
