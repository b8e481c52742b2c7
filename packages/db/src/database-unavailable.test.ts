import { DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { DatabaseUnavailable, isConnectionLost, isDatabaseUnavailable, isStatementTimeout } from './database-unavailable.ts'

const sqlError = (code: string): DatabaseError => Object.assign(new DatabaseError('text', 4, 'error'), { code })

it.each([
  ['a server that was stopped by its administrator', sqlError('57P01'), true],
  ['a server that starts', sqlError('57P03'), true],
  ['too many connections', sqlError('53300'), true],
  ['a failure that a pool in front reports', sqlError('08P01'), true],
  ['a former primary that is a standby now', sqlError('25006'), true],
  ['a duplicate key', sqlError('23505'), false],
  ['a statement that took too long', sqlError('57014'), false],
  ['a refused connection', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), true],
  ['a missing file', Object.assign(new Error('ENOENT'), { code: 'ENOENT' }), false],
  ['a cut connection', new Error('Connection terminated unexpectedly'), true],
  ['a server that does not answer', new Error('Query read timeout'), true],
  ['a value that cannot be read', new RangeError('the bigint is beyond the safe integers'), false],
])('a connection is lost after %s', (_what, err, isLost) => {
  expect(isConnectionLost(err)).toBe(isLost)
})

it('is found among the causes of an error', () => {
  const cause = new DatabaseUnavailable(sqlError('57P01'))
  expect(isDatabaseUnavailable(new AppError('internal', 'it failed', { cause }))).toBe(true)
  expect(isDatabaseUnavailable(new AppError('unavailable', 'the engine cannot be reached'))).toBe(false)
})

it('differs from a statement timeout', () => {
  expect(isStatementTimeout(new AppError('internal', 'it failed', { cause: sqlError('57014') }))).toBe(true)
  expect(isStatementTimeout(sqlError('57P01'))).toBe(false)
})
