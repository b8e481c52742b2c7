import { expect, it } from 'vitest'
import { ConfigError } from '@sandyard/kit/config/parse-config'
import { AppError } from '@sandyard/kit/errors/app-error'
import { describeFailure } from './describe-failure.ts'
import { StartFailure } from './start-failure.ts'

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path: '/data/x' })
const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path: '/data/x' })

it.each([
  [new StartFailure('The port is taken.', { exitCode: 3 }), 'The port is taken.', 3],
  [new ConfigError(['A is wrong']), 'The configuration is not valid:\n  - A is wrong', 78],
  [new AppError('unavailable', 'The engine did not answer.'), 'The engine did not answer.', 1],
  [new Error('wrapped', { cause: full }), 'The disk is full (/data/x): free some space and run this again.', 1],
  [denied, 'This user has not enough rights for /data/x', 1],
  [new Error('boom.\n    at here'), 'Sandyard could not continue: boom (more in /data/server.log).', 1],
  ['text', 'Sandyard could not continue: text (more in /data/server.log).', 1],
])('describes %s in one sentence', (error, sentence, exitCode) => {
  const report = describeFailure(error, '/data/server.log')
  expect(report.sentence).toContain(sentence)
  expect(report.sentence).not.toContain('    at ')
  expect(report.exitCode).toBe(exitCode)
})
