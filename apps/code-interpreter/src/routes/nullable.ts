import { Type, type TNull, type TOptional, type TSchema, type TUnion } from 'typebox'

/** A field that clients leave out (JavaScript) or send as null (Python). */
export function nullable<T extends TSchema>(schema: T): TOptional<TUnion<[T, TNull]>> {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}
