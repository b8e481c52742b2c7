import { AppError } from '@sandyard/kit/errors/app-error'

/** The body of a compose request (envd.md 5.8), validated as far as possible without file access. */
export interface ComposeRequest {
  /** In the order of the request, at least one; an element may be empty. */
  readonly sourcePaths: readonly string[]
  readonly destination: string
  readonly username: string | undefined
}

/**
 * Parses a body as upstream does: field names in any case, null as absent, unknown fields and trailing text ignored.
 *
 * @throws AppError `invalid_argument` with the texts of envd.md 5.8, checks 1 to 3
 */
export function parseComposeRequest(text: string): ComposeRequest {
  let [sourcePaths, destination, username]: [string[], string, string | undefined] = [[], '', undefined]
  for (const [name, value] of Object.entries(toObject(decode(text)))) {
    const field = name.toLowerCase()
    if (value === null) continue
    if (field === 'source_paths') sourcePaths = toStrings(value)
    if (field === 'destination') destination = toString(value, field)
    if (field === 'username') username = toString(value, field)
  }
  if (sourcePaths.length === 0) throw new AppError('invalid_argument', 'source_paths must not be empty')
  if (destination === '') throw new AppError('invalid_argument', 'destination is required')
  return { sourcePaths, destination, username }
}

/** The first JSON value of a text. */
function decode(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // JSON white space only; `trim` would remove more.
    return decodeFirst(text.replace(/^[\t\n\r ]+/, ''))
  }
}

function decodeFirst(text: string): unknown {
  const end = endOfFirst(text)
  if (end === undefined) throw undecodable(text === '' ? 'EOF' : 'unexpected EOF')
  try {
    return JSON.parse(text.slice(0, end))
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error))
  }
}

/** The end of the object or array at the start of a text; undefined if it is incomplete. For anything else the end of the text. */
function endOfFirst(text: string): number | undefined {
  if (text !== '' && !/^[[{]/.test(text)) return text.length
  let [depth, inString] = [0, false]
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inString && character === '\\') at += 1
    else if (character === '"') inString = !inString
    else if (inString) continue
    else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}

function toObject(value: unknown): object {
  if (value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value
  throw undecodable(`json: cannot unmarshal ${typeName(value)} into Go value of type api.ComposeRequest`)
}

function toStrings(value: unknown): string[] {
  if (!Array.isArray(value)) throw wrongType(value, 'source_paths', '[]string')
  return value.map((item) => (item === null ? '' : toString(item, 'source_paths')))
}

function toString(value: unknown, field: string): string {
  // An unpaired surrogate cannot be in a file name; upstream reads it as U+FFFD.
  if (typeof value === 'string') return value.toWellFormed()
  throw wrongType(value, field, 'string')
}

function wrongType(value: unknown, field: string, expected: string): AppError {
  return undecodable(`json: cannot unmarshal ${typeName(value)} into Go struct field ComposeRequest.${field} of type ${expected}`)
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function undecodable(reason: string): AppError {
  return new AppError('invalid_argument', `invalid request body: ${reason}`)
}
