import { expect, test } from 'vitest'
import { KernelVariables } from './kernel-variables.ts'

test('a kernel gets what its process has not, and loses it again before the next cell', () => {
  const variables = new KernelVariables({ HOME: '/root', LANG: 'C' })
  const first = variables.changesTo({ A: '1', HOME: '/root' })
  expect(first).toEqual({ A: '1' })
  variables.apply(first ?? {})
  expect(variables.changesTo({ A: '1' })).toBeUndefined()

  const second = variables.changesTo({ A: '2', LANG: 'de' })
  expect(second).toEqual({ A: '2', LANG: 'de' })
  variables.apply(second ?? {})
  expect(variables.changesTo({})).toEqual({ A: undefined, LANG: 'C' })
})

test('a kernel that was started again has the variables of its process', () => {
  const variables = new KernelVariables({})
  variables.apply({ A: '1' })
  variables.reset()
  expect(variables.changesTo({})).toBeUndefined()
  expect(variables.changesTo({ A: '1' })).toEqual({ A: '1' })
})
