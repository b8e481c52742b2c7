import { afterAll, beforeAll, expect, it } from 'vitest'
import { BuildBench, imageWithPackages } from './support/build-bench.ts'

let bench: BuildBench
let baseImage: string

beforeAll(async () => {
  baseImage = await imageWithPackages()
  bench = await BuildBench.open({ baseImage })
})

afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

it('builds a template from a Dockerfile, and reports the instruction that fails', async () => {
  await bench.seedBase()
  const dockerfile = (text: string) => ({
    source: { kind: 'dockerfile' as const, text: `FROM ${baseImage}\n${text}\n` },
    force: true,
  })
  const { result, error, log } = await bench.build(dockerfile('ENV A=1\nRUN echo made > /made'), { version: 'v1' })
  expect(error).toBeUndefined()
  expect(log.find(({ message }) => message.includes('RUN echo made'))?.step).toBe('3')
  expect(result).toMatchObject({ defaultUser: 'user', defaultWorkdir: '/home/user', env: { A: '1' } })
  if (result !== undefined) expect(await bench.inSandbox(result, 'cat /made; id -un; echo $A')).toBe('made\nuser\n1')
  const failed = await bench.build(dockerfile('RUN exit 4'), { version: 'v1' })
  expect(failed.error).toMatchObject({ message: expect.stringContaining('exit 4'), step: '2' })
})
