import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { DEFAULT_TAG, type TemplateReference } from './template-reference.ts'

/** The texts of control-plane.md 2.2 and 2.4. */

export function templateNotFound({ key }: Pick<TemplateReference, 'key'>): AppError {
  return new AppError('not_found', `template '${shorten(key)}' not found`)
}

export function tagNotFound({ key, tag }: TemplateReference): AppError {
  return new AppError('not_found', `tag '${shorten(tag ?? DEFAULT_TAG)}' does not exist for template '${shorten(key)}'`)
}

/** A team can write only to its own namespace. */
export function foreignNamespace(namespace: string, slug: string): AppError {
  return new AppError('invalid_argument', `namespace '${shorten(namespace)}' must match your team '${slug}'`)
}
