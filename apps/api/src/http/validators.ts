import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { parseRfc3339 } from './rfc3339.ts'

const OPTIONS = { strict: false, allErrors: false, removeAdditional: false, useDefaults: false, discriminator: true } as const

/**
 * Bodies are validated without conversion: `"2"` is not an integer. Parameters and headers arrive as text and are converted first. Unknown
 * properties are kept.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<AnySchema> {
  const strict = withFormats(new Ajv({ ...OPTIONS, coerceTypes: false }))
  const converting = withFormats(new Ajv({ ...OPTIONS, coerceTypes: true }))
  return ({ schema, httpPart }): ValidateFunction => (httpPart === 'body' ? strict : converting).compile(schema)
}

function withFormats(ajv: Ajv): Ajv {
  // `minimum` and `maximum` check the range; the format is documentation only.
  ajv.addFormat('int32', true)
  ajv.addFormat('date-time', (text: string) => parseRfc3339(text) !== undefined)
  return ajv
}
