import { expect, it } from 'vitest'
import { withComponents } from './components.ts'

const json = (schema: object, description = 'Default Response') => ({ description, content: { 'application/json': { schema } } })
const named = (responses: object, requestBody?: object) => {
  const get = { ...(requestBody && { requestBody }), responses }
  const document = withComponents({ paths: { '/things': { get } } }) as {
    paths: { '/things': { get: { responses: Record<string, unknown>; requestBody?: unknown } } }
    components: { schemas: object; responses: object }
  }
  return { ...document.components, ...document.paths['/things'].get, found: document.paths['/things'].get.responses }
}
const Thing = { type: 'object', title: 'Thing', properties: { id: { type: 'string' } } }
const Failure = { type: 'object', title: 'Error', properties: { code: { type: 'integer' } } }
const REF = { $ref: '#/components/schemas/Thing' }

it('moves titled objects and enumerations out, and keeps the words of each place', () => {
  const Color = { type: 'string', enum: ['red', 'blue'], title: 'Color' }
  const Box = {
    type: 'object',
    title: 'Box',
    properties: { thing: { ...Thing, description: 'inside' }, color: { ...Color, default: 'red' } },
  }
  const { schemas, found } = named({ 200: json({ type: 'array', items: Box }), 201: json(Thing) })
  expect(schemas).toEqual({
    Box: {
      type: 'object',
      title: 'Box',
      properties: { thing: { description: 'inside', ...REF }, color: { default: 'red', $ref: '#/components/schemas/Color' } },
    },
    Color,
    Thing,
  })
  expect(found).toEqual({ 200: json({ type: 'array', items: { $ref: '#/components/schemas/Box' } }, 'OK'), 201: json(REF, 'Created') })
})

it('gives a shape that may be null one name, and a map the form that generators know', () => {
  const { schemas, requestBody } = named(
    {},
    json({ properties: { one: { ...Thing, type: ['object', 'null'] }, map: { patternProperties: { '^.*$': Thing } } } }),
  )
  expect(schemas).toEqual({ Thing })
  expect(requestBody).toEqual(json({ properties: { one: { anyOf: [REF, { type: 'null' }] }, map: { additionalProperties: REF } } }))
})

it('names the error answers by their status, but for one with other words', () => {
  const get = { responses: { 404: json(Failure, 'Not found'), 200: json(Thing) } }
  const put = { responses: { 404: json(Failure, 'No such thing') } }
  const document = withComponents({ paths: { '/a': { get, put } } }) as {
    paths: Record<string, unknown>
    components: { responses: object }
  }
  const answer = json({ $ref: '#/components/schemas/Error' }, 'Not found')
  expect(document.components.responses).toEqual({ 404: answer })
  expect(document.paths['/a']).toEqual({
    get: { responses: { 404: { $ref: '#/components/responses/404' }, 200: json(REF, 'OK') } },
    put: { responses: { 404: { ...answer, description: 'No such thing' } } },
  })
})

it('refuses two shapes with one title', () => {
  expect(() => named({ 200: json(Thing), 201: json({ ...Thing, properties: {} }) })).toThrow('two shapes have the name Thing')
})
