import { AppError } from '@sandyard/kit/errors/app-error'

/** Much deeper than any field of the interface. Code that walks a value may recurse to this depth. */
export const MAX_JSON_DEPTH = 64
/** Members of objects and items of arrays on all levels. The largest valid request, a build of 1,000 steps, has about 15,000. */
export const MAX_JSON_VALUES = 32_768
/** Length of one string in its encoded form: twice the largest Dockerfile. Code may search such a string in one turn of the event loop. */
export const MAX_JSON_TEXT_BYTES = 512 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Parses JSON. Depth, number and length of the values are checked before, so that the time grows with the size of the body only. Members
 * that could change the prototype of an object are removed, like unknown members.
 *
 * @throws AppError `invalid_argument` for invalid JSON, for too many levels or values, and for strings that are too long
 */
export function readJson(bytes: Uint8Array): unknown {
  checkShape(bytes)
  return withoutPrototypes(parse(new TextDecoder().decode(bytes)))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('invalid_argument', (cause as Error).message, { cause })
  }
}

function checkShape(bytes: Uint8Array): void {
  let depth = 0
  let values = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const start = at
      at = endOfText(bytes, at)
      if (at - start > MAX_JSON_TEXT_BYTES)
        throw new AppError('invalid_argument', `it has a text of more than ${MAX_JSON_TEXT_BYTES / 1024} KiB`)
    } else if (byte === COMMA) {
      values += 1
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values += 1
      depth += 1
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth -= 1
    }
    if (depth > MAX_JSON_DEPTH) throw new AppError('invalid_argument', `it is nested deeper than ${MAX_JSON_DEPTH} levels`)
    if (values > MAX_JSON_VALUES) throw new AppError('invalid_argument', `it has more than ${MAX_JSON_VALUES} keys and items`)
  }
}

/** The position of the closing quote, or the length of the bytes without one; the parser then refuses the text. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let first = at
    while (bytes[first - 1] === BACKSLASH) first -= 1
    if ((at - first) % 2 === 0) return at
  }
  return bytes.length
}

function withoutPrototypes(value: unknown): unknown {
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) Reflect.deleteProperty(next, '__proto__')
    const { constructor } = next as { readonly constructor?: unknown }
    if (
      Object.hasOwn(next, 'constructor') &&
      typeof constructor === 'object' &&
      constructor !== null &&
      Object.hasOwn(constructor, 'prototype')
    ) {
      Reflect.deleteProperty(next, 'constructor')
    }
    pending.push(...Object.values(next))
  }
  return value
}
