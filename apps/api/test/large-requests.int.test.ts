import { expect, it } from 'vitest'
import { useTwoTeams, type Party } from './support/templates.ts'

const { api, ours, theirs } = await useTwoTeams()

const SENT = 60
const LARGE_BODY = JSON.stringify({ templateID: 'none', unknown: ['x'.repeat(400_000)] })
const LARGE_DOCKERFILE = `FROM debian:bookworm-slim\n${`RUN true # ${'x'.repeat(100)}\n`.repeat(900)}`

it.each([
  [
    'JSON bodies',
    async (team: Party) => {
      const headers = { 'x-api-key': team.apiKey, 'content-type': 'application/json' }
      return api.app.inject({ method: 'POST', url: '/v2/sandboxes', headers, payload: LARGE_BODY })
    },
  ],
  [
    'Dockerfiles',
    async (team: Party) => {
      const headers = { authorization: team.bearer, 'content-type': 'application/json' }
      const payload = { dockerfile: LARGE_DOCKERFILE, alias: 'x', teamID: team.teamId }
      return api.app.inject({ method: 'POST', url: '/templates', headers, payload })
    },
  ],
] as const)('refuses the large %s of a team that sends too many at once, and takes those of another team', async (_what, send) => {
  // Cached credentials: no look-up delays a request.
  for (const team of [ours, theirs]) expect((await send(team)).statusCode).toBeLessThan(429)
  const many = Array.from({ length: SENT }, () => send(ours))
  const answers = await Promise.all([...many, send(theirs)])
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.json()).toEqual({ code: 429, message: 'This team or client has too many large requests in flight: try again' })
  expect(refused[0]?.headers['retry-after']).toBe('1')
  expect(answers.at(-1)?.statusCode).toBeLessThan(429)
})
