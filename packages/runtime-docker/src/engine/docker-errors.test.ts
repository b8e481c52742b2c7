import { describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { toAppError } from './docker-errors.ts'

function answer(statusCode: number, message: string): Error {
  return Object.assign(new Error(`(HTTP code ${statusCode}) - ${message}`), { statusCode })
}

function failure(code: string, syscall?: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}

describe('toAppError', () => {
  it.for<[string, unknown, string, string]>([
    ['an absent object', answer(404, 'No such container: x'), 'not_found', 'ours'],
    ['an image that another request deletes', answer(500, 'server error - unrecognized image ID sha256:7d'), 'not_found', 'ours'],
    ['a conflict', answer(409, 'Container is not running'), 'conflict', 'ours'],
    ['any other refusal', answer(400, 'bad parameter'), 'internal', 'ours'],
    [
      'a full disk',
      answer(500, 'write /var/lib/docker/x: no space left on device'),
      'insufficient_storage',
      'The disk of the Docker engine is full.',
    ],
    [
      'no more addresses',
      answer(500, 'no available IPv4 addresses on this network'),
      'resource_exhausted',
      'The host has no room for another sandbox.',
    ],
    [
      'no more memory',
      answer(500, 'fork/exec /usr/bin/runc: cannot allocate memory'),
      'resource_exhausted',
      'The host has no room for another sandbox.',
    ],
    [
      'no more processes',
      answer(500, "runc create failed: unable to start container process: can't get final child's PID from pipe: EOF: unknown"),
      'resource_exhausted',
      'The host has no room for another sandbox.',
    ],
    ['no socket', failure('ENOENT', 'connect'), 'unavailable', 'The Docker engine cannot be reached.'],
    ['no permission for the socket', failure('EACCES', 'connect'), 'unavailable', 'The Docker engine cannot be reached.'],
    ['a broken connection', failure('ECONNRESET'), 'unavailable', 'The Docker engine cannot be reached.'],
    ['an absent file of ours', failure('ENOENT', 'open'), 'internal', 'ours'],
    ['anything at all', 'what?', 'internal', 'ours'],
  ])('%s', ([, err, kind, message]) => {
    expect(toAppError(err, 'ours')).toMatchObject({ kind, message, cause: err })
  })

  it('returns our own errors unchanged', () => {
    const own = new AppError('failed_precondition', 'own')
    expect(toAppError(own, 'ours')).toBe(own)
  })

  it('does not copy the text of the engine into the message', () => {
    expect(toAppError(answer(500, 'error in /var/lib/docker/overlay2'), 'ours').message).not.toContain('/var/lib')
  })
})
