import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { createWorld, type Answer, type Server, type World } from './control-plane.ts'

/** A team, its key, the token of its user, and calls with these credentials. */
export interface Caller {
  readonly teamId: string
  readonly userId: string
  readonly slug: string
  readonly apiKey: string
  readonly accessToken: string
  withKey(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  withToken(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export async function addCaller(world: World, api: Server, teamName: string): Promise<Caller> {
  const slug = teamName.toLowerCase()
  const { teamId, userId, credentials } = await seedIdentity(world.database, { teamName, email: `dev@${slug}.test` })
  const { apiKey, accessToken } = credentials ?? world.credentials
  return {
    teamId,
    userId,
    slug,
    apiKey,
    accessToken,
    withKey: (method, url, body, headers = {}) => api.call(method, url, { apiKey, headers, ...(body !== undefined && { body }) }),
    withToken: (method, url, body, headers = {}) =>
      api.call(method, url, {
        apiKey: null,
        headers: { authorization: `Bearer ${accessToken}`, ...headers },
        ...(body !== undefined && { body }),
      }),
  }
}

export interface BuildsWorld extends AsyncDisposable {
  readonly world: World
  readonly api: Server
  readonly acme: Caller
  readonly stranger: Caller
}

/** Two teams on a server whose queue does not run: started builds stay `building`. */
export async function createBuildsWorld(env: Record<string, string> = {}): Promise<BuildsWorld> {
  const world = await createWorld()
  const api = await world.startServer({ env: { SANDYARD_MAX_BUILDS: '1000', ...env } })
  return {
    world,
    api,
    acme: await addCaller(world, api, 'Acme'),
    stranger: await addCaller(world, api, 'Strangers'),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}
