import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BuildFailure } from '../../api/src/builds/build-failure.ts'
import { createReadyMadeFolder, type ReadyMadeFolder } from '../../api/test/support/ready-made-folder.ts'
import { createBench, type Bench } from './support/bench.ts'

let tree: ReadyMadeFolder
let bench: Bench
beforeAll(async () => {
  tree = await createReadyMadeFolder()
  await tree.write('good')
  await tree.write('bad', { command: 'false' })
  bench = await createBench({
    loops: true,
    readyMade: { folder: tree.path },
    buildRunner: async ({ buildId, plan, log }) => {
      log.write({ level: 'info', message: 'Setting up things', step: '1' })
      await log.flush()
      if (plan.steps[0]?.args[0] === 'false') throw new BuildFailure("failed to run command 'false': exit status 1", '1')
      return { image: `built:${buildId}`, defaultUser: 'user', defaultWorkdir: '/', env: {} }
    },
  })
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
  await tree[Symbol.asyncDispose]()
})

describe('sandyard templates', () => {
  it('lists what is ready-made, installs a template and says when it is up to date', async () => {
    const before = await bench.sandyard(['templates', 'list'])
    expect(before.stdout).toMatch(/^NAME +STATE +VERSION +INSTALLED +DESCRIPTION\n/)
    expect(before.stdout).toMatch(/^good +absent +1 +- +The template good$/m)
    const first = await bench.sandyard(['templates', 'install', 'good'])
    expect([first.code, first.stdout]).toEqual([0, ''])
    expect(first.stderr).toContain('good is installed (version 1).\n')
    expect((await bench.sandyard(['templates', 'list'])).stdout).toMatch(/^good +installed +1 +1 +The template good$/m)
    expect((await bench.sandyard(['templates', 'install', 'good'])).stderr).toBe('good is up to date (version 1).\n')
    const { stdout } = await bench.sandyard(['templates', 'install', 'good', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ name: 'good', state: 'installed', build: null })
  })

  it('ends with the reason of a build that fails', async () => {
    const failed = await bench.sandyard(['templates', 'install', 'bad'])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain("bad could not be built: failed to run command 'false': exit status 1")
    expect((await bench.sandyard(['templates', 'list'])).stderr).toContain("bad: the last build failed: failed to run command 'false'")
    expect((await bench.sandyard(['templates', 'install', 'absent'])).code).toBe(3)
  })
})
