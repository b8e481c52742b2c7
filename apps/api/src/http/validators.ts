import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { parseRfc3339 } from './rfc3339.ts'

const OPTIONS = { strict: false, allErrors: false, removeAdditional: false, useDefaults: false, discriminator: true } as const

/**
 * Bodies are judged as they are: `"2"` is no integer. Everything else arrives as text and is converted first. Properties that a
 * schema does not know are left alone.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<AnySchema> {
  const strict = withFormats(new Ajv({ ...OPTIONS, coerceTypes: false }))
  const converting = withFormats(new Ajv({ ...OPTIONS, coerceTypes: true }))
  return ({ schema, httpPart }): ValidateFunction => (httpPart === 'body' ? strict : converting).compile(schema)
}

function withFormats(ajv: Ajv): Ajv {
  // Ranges of integers are said by `minimum` and `maximum`; the format is for readers.
  ajv.addFormat('int32', true)
  ajv.addFormat('date-time', (text: string) => parseRfc3339(text) !== undefined)
  return ajv
}
