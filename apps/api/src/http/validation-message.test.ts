import { TemplateBuildStartV2 } from '@sandyard/api-contract/builds/start-build'
import type { FastifyError } from 'fastify'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { validationMessage } from './validation-message.ts'
import { compileValidator } from './validators.ts'

const FULL = 'validation error: error in openapi3filter.RequestError: '

function messageOf(schema: object, httpPart: 'body' | 'querystring', value: unknown): string {
  const validate = compileValidator({ schema, httpPart, method: 'POST', url: '/' }) as { errors?: unknown } & ((value: unknown) => boolean)
  expect(validate(value)).toBe(false)
  return validationMessage({ validation: validate.errors, validationContext: httpPart } as FastifyError)
}

it.each([
  [{ type: 'registry', username: 'u' }, "/fromImageRegistry must have required property 'password'"],
  [{ type: 'gcp', serviceAccountJson: {} }, '/fromImageRegistry/serviceAccountJson must be string'],
  [{ type: 'other' }, '/fromImageRegistry value of tag "type" must be in oneOf'],
  [{}, "/fromImageRegistry must have required property 'type'"],
])('judges a registry by its type: %j', (fromImageRegistry, detail) => {
  expect(messageOf(TemplateBuildStartV2, 'body', { fromImage: 'a', fromImageRegistry })).toBe(`${FULL}request body has an error: ${detail}`)
})

it('names a parameter that is missing', () => {
  expect(messageOf(Type.Object({ tag: Type.String() }), 'querystring', {})).toBe(
    `${FULL}parameter "tag" in query has an error: value is required but missing`,
  )
})
