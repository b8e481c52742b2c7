import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ContentQuery } from './content-query.ts'

/** One request with the key. */
export interface ContentCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: ContentQuery
}
