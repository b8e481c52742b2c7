import type { Inbound } from '../inbound/parse-inbound.ts'
import { endToEndHeaders, isChunked, isWithoutBody, trailerNames, type HeadParts } from '../message/head.ts'

/** Whether the trailers of an answer can be sent to the client: only in an answer with chunks. */
export function keepsTrailers(answer: HeadParts & { readonly status: number }, { method, isOldHttp }: Inbound): boolean {
  return isChunked(answer) && method !== 'HEAD' && !isWithoutBody(answer.status) && !isOldHttp
}

/**
 * The headers for the client, as name, value, name, value.
 *
 * @param withTrailers the answer will be chunked: other answers cannot have trailers, so their announcement is dropped
 */
export function responseHeaders(answer: HeadParts, withTrailers: boolean): string[] {
  const headers = endToEndHeaders(answer, () => false)
  return withTrailers && isChunked(answer) ? [...headers, ...trailerNames(answer)] : headers
}
