import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'
import type { AuthSet } from '@sandyard/api-contract/operation'
import { JSON_TYPE } from '../error-reply.ts'
import { withComponents } from './components.ts'
import { registerDocsPage } from './docs-page.ts'
import { withParameters } from './parameters.ts'
import { SECURITY_SCHEMES, TAGS } from './sections.ts'

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

/**
 * Serves the description of all operations at `/openapi.json`, and as pages at `/docs`. The schemas of the routes get id, summary, tag and credentials from the
 * table of operations; an operation of ours has `x-sandyard`.
 */
export const openapiPlugin = fp(
  async (app) => {
    app.addHook('onRoute', (route) => {
      const operation = route.config?.operation
      if (operation === undefined) {
        route.schema = { ...route.schema, hide: true }
        return
      }
      const { id, tag, auth, deprecated, summary, ours } = operation
      route.schema = {
        ...route.schema,
        operationId: id,
        tags: [tag],
        security: SECURITY[auth],
        ...(summary !== undefined && { summary }),
        ...(deprecated && { deprecated }),
        ...(ours && { 'x-sandyard': true }),
      }
    })
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Sandyard control plane',
          version: '0.1.0',
          description: 'Sandboxes, templates and what belongs to them. Operations with `x-sandyard` are additions of this server.',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        tags: TAGS.map(([name, description]) => ({ name, description })),
        components: { securitySchemes: SECURITY_SCHEMES },
      },
      // Answers are serialised with the inline schemas; only the document has references.
      transformObject: (given) => {
        const document = 'openapiObject' in given ? given.openapiObject : given.swaggerObject
        return withComponents({ ...document, paths: withParameters((document.paths ?? {}) as Parameters<typeof withParameters>[0]) })
      },
    })
    await registerDocsPage(app)
    let document: Buffer | undefined
    app.get('/openapi.json', async (_request, reply) => {
      // Serialised once: the route needs no key, and answers that a client does not read share this buffer.
      document ??= Buffer.from(JSON.stringify(app.swagger()))
      return reply.type(JSON_TYPE).send(document)
    })
  },
  { name: 'openapi' },
)
