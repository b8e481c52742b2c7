import { types, type CustomTypesConfig } from 'pg'

type TypeId = (typeof types.builtins)[keyof typeof types.builtins]

/** @throws RangeError when a bigint does not fit a JavaScript number exactly */
export function readInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} is beyond the safe integers`)
  return value
}

/** Converts Postgres values to JavaScript: bigints become numbers, pg converts the rest. */
export const VALUE_TYPES: CustomTypesConfig = {
  getTypeParser: (oid: TypeId, format?: 'text' | 'binary') =>
    oid === types.builtins.INT8 && format !== 'binary' ? readInt8 : types.getTypeParser(oid, format ?? 'text'),
}
