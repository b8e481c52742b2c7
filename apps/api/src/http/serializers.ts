import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'

type Serialize = (answer: unknown) => string

const compile = SerializerSelector()({}, {})
const compiled = new WeakMap<object, Serialize>()

/** The serializer that Fastify makes. Each schema object is compiled once. Throws for a schema that is none. */
export function serializerOf(schema: object): Serialize {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  // The route is for compilers that make files.
  const made = compile({ schema, method: '', url: '', httpStatus: '' })
  compiled.set(schema, made)
  return made
}

/** Compiles a schema when it is first used: a server has hundreds, and most calls use few. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  return (answer: unknown) => serializerOf(schema)(answer)
}
