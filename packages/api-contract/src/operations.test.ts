import { expect, it } from 'vitest'
import { OPERATIONS } from './operations.ts'

it('declares each operation and each route once', () => {
  const ids = OPERATIONS.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)])
  const routes = OPERATIONS.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`)
  expect(routes).toEqual([...new Set(routes)])
})
