import { Type } from 'typebox'

/** An instant in the format of every operation: RFC 3339, UTC (control-plane.md 1.14). */
export function DateTime(description: string) {
  return Type.String({ format: 'date-time', description })
}
