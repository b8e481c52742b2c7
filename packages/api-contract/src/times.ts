import { Type } from 'typebox'

/** An instant as every operation writes it: RFC 3339, UTC (control-plane.md 1.14). */
export function DateTime(description: string) {
  return Type.String({ format: 'date-time', description })
}
