import { expect, test } from 'vitest'
import { findSyntaxError } from './syntax-error.ts'

test('an error of syntax has its line', () => {
  expect(findSyntaxError('let a = 1\nlet broken = ;\n')).toEqual({
    name: 'SyntaxError',
    value: 'Expression expected',
    traceback: 'SyntaxError: Expression expected\nline 2\nlet a = 1\nlet broken = ;\n             ^',
  })
})

test.each(['import fs from "node:fs"; await 1', 'enum E { A }\nconst e: E = E.A', ''])('%j has none', (code) => {
  expect(findSyntaxError(code)).toBeUndefined()
})
