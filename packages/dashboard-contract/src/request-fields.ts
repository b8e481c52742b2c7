import { Type } from 'typebox'
import { MAX_CURSOR_LENGTH, MAX_PAGE_SIZE, MAX_PATH_BYTES, MAX_SEARCH_LENGTH, PAGE_SIZE } from './limits.ts'

/** Fields that several requests have. The page imports types only, so TypeBox never reaches its bundle. */
export const pageQuery = {
  cursor: Type.Optional(Type.String({ maxLength: MAX_CURSOR_LENGTH })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: PAGE_SIZE })),
}

export const search = Type.Optional(Type.String({ maxLength: MAX_SEARCH_LENGTH }))

export const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })

export const sandboxId = Type.String({ pattern: '^[a-z0-9]{1,64}$' })

export const templateId = Type.String({ pattern: '^[a-z0-9]{1,64}$' })

export const instant = Type.String({ format: 'date-time', maxLength: 40 })

/** Absolute. The server also checks the bytes: a character can have four. */
export const filePath = Type.String({ minLength: 1, maxLength: MAX_PATH_BYTES, pattern: '^/[^\\u0000]*$' })

export const SandboxParams = Type.Object({ sandboxId })

export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values] })
}
