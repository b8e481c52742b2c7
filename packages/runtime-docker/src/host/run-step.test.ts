import { afterEach, describe, expect, it, vi } from 'vitest'
import { runStep } from './run-step.ts'

afterEach(() => vi.unstubAllEnvs())

describe('runStep', () => {
  it('gives a command the environment without the settings of the server', async () => {
    vi.stubEnv('SANDYARD_ADMIN_TOKEN', 'secret-one')
    vi.stubEnv('DATABASE_URL', 'postgres://secret-two')
    vi.stubEnv('HTTPS_PROXY', 'http://proxy:3128')
    const { ok, tail } = await runStep('sh', ['-c', 'env | grep -e secret-one -e secret-two -e ^HTTPS_PROXY='], { timeoutMs: 5000 })
    expect([ok, tail]).toEqual([true, 'HTTPS_PROXY=http://proxy:3128'])
  })

  it('returns when the command has ended, also while a process that it started keeps its output', async () => {
    const { ok, tail } = await runStep('sh', ['-c', 'sleep 60 & echo $!'], { timeoutMs: 60_000 })
    process.kill(Number(tail), 'SIGKILL')
    expect(ok).toBe(true)
  })

  it('kills a command that does not end after its deadline', async () => {
    const { ok, tail } = await runStep('sh', ['-c', 'trap "" TERM; while :; do sleep 0.1; done'], { timeoutMs: 100, endMs: 100 })
    expect([ok, tail]).toEqual([false, 'sh took longer than 0 s'])
  })
})
