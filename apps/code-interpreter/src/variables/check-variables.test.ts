import { expect, test } from 'vitest'
import { checkVariables } from './check-variables.ts'

test('variables of a process are accepted', () => {
  expect(() => checkVariables({ A: '', 'not-a-shell-name': 'é=\n' })).not.toThrow()
})

test.each([{ '': 'x' }, { 'A=B': 'x' }, { 'A\0': 'x' }, { A: 'x\0' }])('%j is refused', (variables) => {
  expect(() => checkVariables(variables)).toThrow(expect.objectContaining({ kind: 'invalid_argument' }))
})
