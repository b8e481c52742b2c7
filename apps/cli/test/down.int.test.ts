import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { keepCredentials } from '@sandyard/api/program/data/credentials'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBench, createSandbox, type Bench } from './support/bench.ts'

let bench: Bench
beforeAll(async () => (bench = await createBench()))
afterAll(() => bench[Symbol.asyncDispose]())

const TOKEN = `sk_e2b_${'0'.repeat(40)}`

it('down --kill refuses an API that is not the server of the data directory, and names the API in its question', async () => {
  const credentials = join(bench.folder, 'credentials')
  const id = await createSandbox(bench)
  const isThere = async (): Promise<boolean> => (await bench.server.call('GET', `/sandboxes/${id}`)).status === 200
  const down = (...args: string[]) => bench.sandyard(['down', '--kill', ...args])
  for (const apiKey of [undefined, `e2b_${'0'.repeat(40)}`]) {
    if (apiKey === undefined) rmSync(credentials, { force: true })
    else keepCredentials(credentials, { apiKey, accessToken: TOKEN })
    const { code, stderr } = await down('--yes')
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining(`${bench.apiUrl} is not that of the server with the data in ${bench.folder}`) as string,
    })
    expect(await isThere()).toBe(true)
  }
  keepCredentials(credentials, { apiKey: bench.world.credentials.apiKey, accessToken: TOKEN })
  expect(await down()).toMatchObject({ code: 4, stderr: expect.stringContaining(`Kill 1 sandboxes of ${bench.apiUrl}`) as string })
  expect(await isThere()).toBe(true)
  expect(await down('--yes')).toMatchObject({ code: 0, stdout: `${id} killed\n` })
  expect(await isThere()).toBe(false)
})
