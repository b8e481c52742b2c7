import type { TSchema, Static } from 'typebox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { validatorOf } from '../../../http/validators.ts'

/** The query of a topic, checked as that of a request. @throws AppError `invalid_argument` */
export function parseTopicQuery<S extends TSchema>(schema: S, text: string): Static<S> {
  const query: Record<string, unknown> = Object.fromEntries(new URLSearchParams(text))
  if (!validatorOf(schema, 'querystring')(query)) throw new AppError('invalid_argument', 'The query of the topic is malformed')
  return query as Static<S>
}
