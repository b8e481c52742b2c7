import { expect } from 'vitest'

/** Asymmetric matchers for the types in the tables of control-plane.md. */
export const dateTime: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/)
export const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const templateId: unknown = expect.stringMatching(/^[a-z0-9]{20}$/)

/** An int32 that is at least `least`. */
export function integerFrom(least: number): unknown {
  return expect.toSatisfy((value: unknown) => Number.isInteger(value) && Number(value) >= least && Number(value) < 2 ** 31)
}
