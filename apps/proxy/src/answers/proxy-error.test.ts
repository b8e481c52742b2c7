import { describe, expect, it } from 'vitest'
import { renderProblem, type Problem } from './proxy-error.ts'

const sandboxId = 'i1234567890abcdefghij'
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', accept: 'text/html,*/*;q=0.8' }

/** Bytes, not objects: clients compare the messages, and the order of the keys is the documented one. */
const BODIES: [Problem, number, string, string][] = [
  [{ kind: 'bad_request', message: 'Invalid host' }, 400, 'text/plain; charset=utf-8', 'Invalid host'],
  [
    { kind: 'not_found', sandboxId },
    502,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"The sandbox was not found","code":502}`,
  ],
  [
    { kind: 'port_closed', sandboxId, port: 3000 },
    502,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"The sandbox is running but port is not open","port":3000,"code":502}`,
  ],
  [
    { kind: 'reserved_route', path: '/init' },
    404,
    'application/json; charset=utf-8',
    '{"message":"This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL","path":"/init","code":404}',
  ],
  [{ kind: 'invalid_signature' }, 401, 'application/json; charset=utf-8', '{"code":401,"message":"invalid signature"}'],
  [
    { kind: 'unavailable', sandboxId: undefined },
    503,
    'application/json; charset=utf-8',
    '{"message":"The sandbox cannot be reached right now. Try again in a moment.","code":503}',
  ],
]

describe('bodies', () => {
  it.each(BODIES)('%j', (problem, status, contentType, body) => expect(renderProblem(problem, {})).toEqual({ status, contentType, body }))

  it.each([BODIES[0], BODIES[3]].filter((row) => row !== undefined))(
    '%j is the same for a browser',
    (problem, status, contentType, body) => {
      expect(renderProblem(problem, browser)).toEqual({ status, contentType, body })
    },
  )
})

describe('pages', () => {
  it.each<[Problem, string[]]>([
    [{ kind: 'not_found', sandboxId }, ['Sandbox Not Found']],
    [{ kind: 'port_closed', sandboxId, port: 3210 }, ['no service running on port', '3210']],
    [{ kind: 'no_answer', sandboxId, port: 3210 }, ['3210']],
    [{ kind: 'unavailable', sandboxId }, []],
  ])('%j', (problem, fragments) => {
    const { contentType, body } = renderProblem(problem, browser)
    expect(contentType).toBe('text/html; charset=utf-8')
    expect(body).toMatch(/^<html[\s\S]*<\/html>$/)
    for (const fragment of [sandboxId, ...fragments]) expect(body).toContain(fragment)
  })
})
