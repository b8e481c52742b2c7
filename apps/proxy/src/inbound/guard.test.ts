import { expect, it } from 'vitest'
import { findReservedPath } from './guard.ts'

it.each([
  '/init',
  '/freeze',
  '/unfreeze',
  '/fsfreeze',
  '/fsthaw',
  '/collapse',
  '/upgrade',
  '/logs',
  '/%6Cogs?after=0',
  '/init/',
  '//init',
  '/./init',
  '/x/../init',
  '/../init',
  '/%69nit',
  '/%2569nit',
  '/%252569nit',
  '/%2e/init',
  '/x/%2e%2E/init',
  '%2finit',
  '/x%2f..%2Finit',
  '\\init',
  '/x\\..\\init',
  '/init?x=1',
  '/init#x',
  '/init;x=1',
  '/init%3Fx',
  '/INIT',
  '/%zz/../init',
])('%s is reserved (envd.md 18.13)', (path) => {
  const spelled = ['/init', '/freeze', '/unfreeze', '/fsfreeze', '/fsthaw', '/collapse', '/upgrade', '/logs']
  expect(spelled).toContain(findReservedPath(path))
})

it.each([
  '/',
  '*',
  '/health',
  '/files?path=/init',
  '/files?path=%2Finit',
  '/init/x',
  '/x/init',
  '/initial',
  '/files/init',
  '/process.Process/Start',
])('%s is not', (path) => expect(findReservedPath(path)).toBeUndefined())
