import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { parseRfc3339 } from './rfc3339.ts'

const OPTIONS = { strict: false, allErrors: false, removeAdditional: false, useDefaults: false, discriminator: true } as const

const STRICT = withFormats(new Ajv({ ...OPTIONS, coerceTypes: false }))
const CONVERTING = withFormats(new Ajv({ ...OPTIONS, coerceTypes: true }))

/**
 * Bodies are validated without conversion: `"2"` is not an integer. Parameters and headers arrive as text and are converted first. Unknown
 * properties are kept. Ajv compiles each schema object once. Throws for a schema that is none.
 */
export function validatorOf(schema: AnySchema, httpPart: string | undefined): ValidateFunction {
  return (httpPart === 'body' ? STRICT : CONVERTING).compile(schema)
}

/** Compiles a schema when it is first used: a server has hundreds, and most calls use few. */
export const compileValidator: FastifySchemaCompiler<AnySchema> = ({ schema, httpPart }) => {
  const validate: ReturnType<FastifySchemaCompiler<AnySchema>> = (data: unknown): boolean => {
    const compiled = validatorOf(schema, httpPart)
    const isValid = compiled(data)
    validate.errors = compiled.errors ?? null
    return isValid
  }
  return validate
}

function withFormats(ajv: Ajv): Ajv {
  // `minimum` and `maximum` check the range; the format is documentation only.
  ajv.addFormat('int32', true)
  ajv.addFormat('date-time', (text: string) => parseRfc3339(text) !== undefined)
  return ajv
}
