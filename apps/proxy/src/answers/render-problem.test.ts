import { describe, expect, it } from 'vitest'
import type { Problem } from './proxy-error.ts'
import { renderProblem } from './render-problem.ts'

const sandboxId = 'i1234567890abcdefghij'
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', accept: 'text/html,*/*;q=0.8' }

/** Bytes, not objects: clients compare the messages, and the order of the keys is documented. */
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
    { kind: 'reserved_route', path: '/init', sandboxId },
    404,
    'application/json; charset=utf-8',
    '{"message":"This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL","path":"/init","code":404}',
  ],
  [
    { kind: 'traffic_token', fault: 'missing', sandboxId },
    403,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"Sandbox is secured with traffic access token. Token header 'e2b-traffic-access-token' is missing","code":403}`,
  ],
  [
    { kind: 'traffic_token', fault: 'invalid', sandboxId },
    403,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"Sandbox is secured with traffic access token. Provided token in header 'e2b-traffic-access-token' is invalid","code":403}`,
  ],
  [
    { kind: 'resume_refused', sandboxId },
    403,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"This sandbox can't be resumed with the credentials provided. Check your access token and try again.","code":403}`,
  ],
  [
    { kind: 'resume_limit', sandboxId, message: 'you have reached "it"' },
    429,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"you have reached \\"it\\"","code":429}`,
  ],
  [
    { kind: 'transitioning', sandboxId },
    409,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"The sandbox is still transitioning. Try again in a moment.","code":409}`,
  ],
  [{ kind: 'invalid_signature' }, 401, 'application/json; charset=utf-8', '{"code":401,"message":"invalid signature"}'],
  [
    { kind: 'unavailable', sandboxId: undefined },
    503,
    'application/json; charset=utf-8',
    '{"message":"The sandbox cannot be reached right now. Try again in a moment.","code":503}',
  ],
  [
    { kind: 'limit', cap: 'sandbox_connections', limit: 7, sandboxId },
    429,
    'application/json; charset=utf-8',
    `{"sandboxId":"${sandboxId}","message":"The sandbox has too many concurrent incoming connections (limit: 7)","connectionLimit":7,` +
      '"setting":"SANDYARD_PROXY_MAX_SANDBOX_CONNECTIONS","code":429}',
  ],
  [
    { kind: 'limit', cap: 'requests', limit: 7 },
    503,
    'application/json; charset=utf-8',
    '{"message":"The proxy has too many requests in flight (limit: 7)","limit":7,"setting":"SANDYARD_PROXY_MAX_REQUESTS","code":503}',
  ],
]

describe('bodies', () => {
  it.each(BODIES)('%j', (problem, status, contentType, body) => {
    const answer = renderProblem(problem, { headers: {} })
    expect([answer.status, answer.headers[1], answer.body]).toEqual([status, contentType, body])
  })

  it.each(BODIES.filter(([{ kind }]) => kind === 'bad_request' || kind === 'invalid_signature'))(
    '%j is the same for a browser',
    (problem, status, contentType, body) => {
      const answer = renderProblem(problem, { headers: browser })
      expect([answer.status, answer.headers[1], answer.body]).toEqual([status, contentType, body])
    },
  )
})

describe('pages', () => {
  it.each<[Problem, string[]]>([
    [{ kind: 'not_found', sandboxId }, ['Sandbox Not Found']],
    [{ kind: 'port_closed', sandboxId, port: 3210 }, ['no service running on port', '3210']],
    [{ kind: 'no_answer', sandboxId, port: 3210 }, ['3210']],
    [{ kind: 'traffic_token', fault: 'missing', sandboxId }, ['Missing Traffic Access Token', 'e2b-traffic-access-token']],
    [{ kind: 'traffic_token', fault: 'invalid', sandboxId }, ['Invalid Traffic Access Token']],
    [{ kind: 'resume_refused', sandboxId }, ['Check your access token']],
    [{ kind: 'resume_limit', sandboxId, message: `<b>"&'` }, ['&lt;b&gt;&quot;&amp;&#39;']],
    [{ kind: 'transitioning', sandboxId }, ['Try again in a moment']],
    [{ kind: 'reserved_route', path: '/init', sandboxId }, ['/init']],
    [{ kind: 'unavailable', sandboxId }, []],
    [{ kind: 'limit', cap: 'sandbox_connections', limit: 7, sandboxId }, ['Too Many Connections', 'limit: 7']],
  ])('%j', (problem, fragments) => {
    const { headers, body } = renderProblem(problem, { headers: browser })
    expect(headers[1]).toBe('text/html; charset=utf-8')
    expect(body).toMatch(/^<html[\s\S]*<\/html>$/)
    expect(body).not.toMatch(/https?:|src=|href=|url\(/)
    expect(body.length).toBeLessThan(2500)
    for (const fragment of [sandboxId, ...fragments]) expect(body).toContain(fragment)
  })
})
