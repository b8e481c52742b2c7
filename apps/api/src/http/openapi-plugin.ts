import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'
import type { AuthSet } from '@sandyard/api-contract/operation'
import { JSON_TYPE } from './error-reply.ts'

type Requirement = Record<string, string[]>

const KEY: Requirement = { ApiKeyAuth: [] }
const TOKEN: Requirement = { AccessTokenAuth: [] }
const ADMIN: Requirement = { AdminTokenAuth: [] }
const TEAM_OF_ADMIN: Requirement = { AdminTokenAuth: [], TeamAuth: [] }
const TEAM_OF_USER: Requirement = { AccessTokenAuth: [], TeamAuth: [] }

const SECURITY: Readonly<Record<AuthSet, readonly Requirement[]>> = {
  none: [],
  T: [KEY, TEAM_OF_USER, TEAM_OF_ADMIN],
  TU: [KEY, TEAM_OF_USER, TEAM_OF_ADMIN, TOKEN],
  U: [TOKEN, TEAM_OF_USER],
  G: [TOKEN],
  K: [TEAM_OF_USER, TEAM_OF_ADMIN],
  P: [TOKEN],
  PT: [TEAM_OF_USER],
  A: [ADMIN],
}

/** Serves the description of all operations at `/openapi.json`. The schemas of the routes get id, tag and credentials from the table of operations. */
export const openapiPlugin = fp(
  async (app) => {
    app.addHook('onRoute', (route) => {
      const operation = route.config?.operation
      if (operation === undefined) {
        route.schema = { ...route.schema, hide: true }
        return
      }
      const { id, tag, auth, deprecated } = operation
      route.schema = {
        ...route.schema,
        operationId: id,
        tags: [tag],
        security: SECURITY[auth],
        ...(deprecated && { deprecated }),
      }
    })
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Sandyard control plane', version: '0.1.0' },
        components: {
          securitySchemes: {
            ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
            AccessTokenAuth: { type: 'http', scheme: 'bearer' },
            AdminTokenAuth: { type: 'apiKey', in: 'header', name: 'X-Admin-Token' },
            TeamAuth: { type: 'apiKey', in: 'header', name: 'X-Team-ID' },
          },
        },
      },
    })
    let document: Buffer | undefined
    app.get('/openapi.json', async (_request, reply) => {
      // Serialised once: the route needs no key, and answers that a client does not read share this buffer.
      document ??= Buffer.from(JSON.stringify(app.swagger()))
      return reply.type(JSON_TYPE).send(document)
    })
  },
  { name: 'openapi' },
)
