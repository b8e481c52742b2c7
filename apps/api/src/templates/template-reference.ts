import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuidOrCompact } from '@sandyard/kit/ids/uuid'
import { shorten } from '../text/shorten.ts'

/** `[namespace "/"] name [":" tag]` (control-plane.md 2.2). `name` is an alias or a template id. */
export interface TemplateReference {
  /** Without the tag, trimmed and in lower case. */
  readonly key: string
  readonly namespace: string | undefined
  readonly name: string
  /** Undefined without a tag, and for `default`, which means the same. */
  readonly tag: string | undefined
}

export const DEFAULT_TAG = 'default'

const TEMPLATE_ID = /^[a-z0-9]+$/
const NAME = /^[a-z0-9_-]+$/
const TAG = /^[a-z0-9_.-]+$/

/** Other texts need no look-up, and the database refuses to compare some of them. */
export function isTemplateId(text: string): boolean {
  return TEMPLATE_ID.test(text)
}

/** Expects lower case. */
export function isTag(text: string): boolean {
  return TAG.test(text)
}

/** Expects lower case, with or without hyphens. In place of a tag a UUID is a build id (control-plane.md 2.3). */
export function isUuid(text: string): boolean {
  return isUuidOrCompact(text)
}

/** @throws AppError `invalid_argument` with the detail of control-plane.md 2.2 */
export function parseTemplateReference(raw: string): TemplateReference {
  const text = raw.trim().toLowerCase()
  const [key, tag] = splitFirst(text, ':')
  const [left, right] = splitFirst(key, '/')
  const namespace = right === undefined ? undefined : left
  const name = right ?? left
  if (tag !== undefined && !isTag(tag)) throw invalid(`invalid tag: ${shorten(tag)}`)
  if (namespace !== undefined && !NAME.test(namespace)) throw invalid(`invalid namespace: ${shorten(namespace)}`)
  if (!NAME.test(name)) throw invalid(`invalid template ID: ${shorten(name)}`)
  return { key, namespace, name, tag: tag === DEFAULT_TAG ? undefined : tag }
}

/**
 * Parses with the message prefix of an operation: `Invalid name: <detail>`.
 *
 * @throws AppError `invalid_argument`
 */
export function parseReferenceAs(what: string, raw: string): TemplateReference {
  try {
    return parseTemplateReference(raw)
  } catch (cause) {
    throw new AppError('invalid_argument', `${what}: ${(cause as Error).message}`, { cause })
  }
}

function splitFirst(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

function invalid(detail: string): AppError {
  return new AppError('invalid_argument', detail)
}
