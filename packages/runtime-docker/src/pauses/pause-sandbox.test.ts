import type { Container } from 'dockerode'
import { expect, it } from 'vitest'
import { freeze } from './pause-sandbox.ts'

/** A running container whose engine refuses the first pauses. */
function refusing(times: number, message: string): { readonly container: Container; pauses: number } {
  const engine = {
    pauses: 0,
    container: {
      pause: async () => {
        engine.pauses += 1
        if (engine.pauses <= times) throw Object.assign(new Error(message), { statusCode: 500 })
      },
      inspect: async () => ({ State: { Status: 'running' } }),
    } as unknown as Container,
  }
  return engine
}

const UNFINISHED = '(HTTP code 500) server error - Cannot pause container x: OCI runtime pause failed: unable to freeze: unknown'

it('freezes again when the kernel did not freeze all processes in time', async () => {
  const engine = refusing(2, UNFINISHED)
  await freeze(engine.container)
  expect(engine.pauses).toBe(3)
})

it('gives up in the end', async () => {
  const engine = refusing(Infinity, UNFINISHED)
  await expect(freeze(engine.container)).rejects.toThrow('unable to freeze')
  expect(engine.pauses).toBe(5)
})

it('does not repeat other refusals', async () => {
  const engine = refusing(1, '(HTTP code 500) server error - no such cgroup')
  await expect(freeze(engine.container)).rejects.toThrow('no such cgroup')
  expect(engine.pauses).toBe(1)
})
