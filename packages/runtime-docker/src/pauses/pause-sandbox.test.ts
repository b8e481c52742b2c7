import type { Container, ContainerInspectInfo } from 'dockerode'
import { describe, expect, it } from 'vitest'
import { freeze } from './pause-sandbox.ts'

/** A running container whose freezes are refused with these texts, one after the other. */
function containerThatRefuses(...texts: string[]): Pick<Container, 'pause' | 'inspect'> & { readonly asked: () => number } {
  let asked = 0
  return {
    asked: () => asked,
    pause: async () => {
      const text = texts[asked++]
      if (text !== undefined) throw Object.assign(new Error(text), { statusCode: 500 })
    },
    inspect: async () => ({ State: { Status: 'running' } }) as ContainerInspectInfo,
  }
}

const GAVE_UP = 'Cannot pause container 1: OCI runtime pause failed: unable to freeze: unknown'

describe('freeze', () => {
  it('asks again when the runtime gave up', async () => {
    const container = containerThatRefuses(GAVE_UP, GAVE_UP)
    await freeze(container)
    expect(container.asked()).toBe(3)
  })

  it('asks a bounded number of times', async () => {
    const container = containerThatRefuses(...Array.from({ length: 20 }, () => GAVE_UP))
    await expect(freeze(container)).rejects.toThrow('unable to freeze')
    expect(container.asked()).toBe(5)
  })

  it('does not repeat another refusal', async () => {
    const container = containerThatRefuses('no space left on device')
    await expect(freeze(container)).rejects.toThrow('no space left')
    expect(container.asked()).toBe(1)
  })
})
