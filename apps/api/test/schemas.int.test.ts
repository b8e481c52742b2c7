import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AnySchema } from 'ajv'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { serializerOf } from '../src/http/serializers.ts'
import { validatorOf } from '../src/http/validators.ts'
import { createWorld } from './support/control-plane.ts'

type Part = 'params' | 'querystring' | 'headers' | 'body'
type RouteSchemas = Readonly<Partial<Record<Part, AnySchema>>> & { readonly response?: Readonly<Record<string, object>> }

/** The schemas of all routes of a server, as they are registered. */
async function schemasOfServer(): Promise<RouteSchemas[]> {
  const schemas: RouteSchemas[] = []
  const listen = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ schema }) => void (schema !== undefined && schemas.push(schema as RouteSchemas)))
  }
  subscribe('fastify.initialization', listen)
  await using world = await createWorld()
  await world.startServer()
  unsubscribe('fastify.initialization', listen)
  return schemas
}

it('every schema of every route can be compiled, which happens at its first use only', async () => {
  const schemas = await schemasOfServer()
  let [requests, answers] = [0, 0]
  for (const { response = {}, ...parts } of schemas) {
    for (const httpPart of ['params', 'querystring', 'headers', 'body'] as const) {
      const schema = parts[httpPart]
      if (schema === undefined) continue
      expect(validatorOf(schema, httpPart)).toBeTypeOf('function')
      requests += 1
    }
    for (const schema of Object.values(response)) {
      // Texts are not serialized.
      if ('content' in schema) continue
      expect(serializerOf(schema)).toBeTypeOf('function')
      answers += 1
    }
  }
  expect(requests).toBeGreaterThan(60)
  expect(answers).toBeGreaterThan(300)

  expect(() => validatorOf({ type: 'no type' }, 'body')).toThrow('data/type must be equal to one of the allowed values')
  expect(() => serializerOf({ $ref: '#/absent' })).toThrow('absent')
})
