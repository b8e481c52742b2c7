import { type KnownDifference, messageOf } from '../known-difference.ts'
import type { WireRequest } from '../wire/exchange.ts'

/** Differences in the transfer of files. */
export const FILE_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'type of upload answers',
    reason: 'The JSON answer to an upload has the type `application/json; charset=utf-8`; the reference daemon sends it as plain text.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'headers.content-type' && ours === 'application/json; charset=utf-8' && reference === 'text/plain; charset=utf-8',
  },
  {
    id: 'FIFOs and sockets',
    reason:
      'A FIFO or a socket is refused with 400. The reference daemon waits for the other end of a FIFO without a limit, and fails to open a socket with 500.',
    matches: (sighting) =>
      /is not a regular file/.test(messageOf(sighting, 'ours')) ||
      (/(fifo|socket)/.test(sighting.request?.target ?? '') &&
        sighting.all.some(({ at, reference }) => at === 'end' && reference === 'late')),
  },
  {
    id: 'files without a size',
    reason:
      'Files below `/proc` and `/sys` are read to their end, whatever their size field is. The reference daemon returns 500, an empty body, or fewer bytes than its `Content-Length`.',
    matches: ({ request }) => /^\/files\?path=(%2F|\/)(proc|sys)/.test(request?.target ?? '') && request?.method === 'GET',
  },
  {
    id: 'coding of downloads',
    reason:
      'A file whose first block does not shrink is sent uncompressed, with the headers of identity, unless the client refuses identity or names one coding only; a client that accepts zstd gets zstd. The reference daemon supports only gzip and uses it for any content.',
    matches: ({ difference: { at }, all, request }) =>
      request?.method === 'GET' &&
      request.target.startsWith('/files?') &&
      all.some((difference) => difference.at === 'headers.content-encoding' && difference.ours !== 'gzip') &&
      /^headers\.(content-encoding|content-length|content-type|accept-ranges|last-modified)$/.test(at),
  },
  {
    id: 'uploads cut short',
    reason: 'If an upload ends too early, every byte that arrived is kept; how much the reference daemon keeps depends on its buffers.',
    matches: ({ request, requests, difference: { at } }) => {
      const last = request ?? requests.at(-1)
      return (
        at.startsWith('tree./') &&
        last !== undefined &&
        isUpload(last.target) &&
        requests.length === 1 &&
        (last.cut === true || isGzip(last.headers) || isCutForm(last))
      )
    },
  },
  {
    id: 'compressed forms cut short',
    reason:
      'If a compressed form ends too early, the message names the part that was being read, a file or the form; this depends on how much the decoder has returned.',
    matches: ({ request, difference: { at, ours, reference } }) =>
      request !== undefined &&
      isGzip(request.headers) &&
      at === 'body.message' &&
      [ours, reference].every((message) => String(message).endsWith('unexpected EOF')),
  },
  {
    id: 'forms without a last delimiter',
    reason:
      'A form that ends in the head of a part is an error, since the missing part is unknown; the reference daemon treats it as complete and drops that part.',
    matches: (sighting) =>
      messageOf(sighting, 'ours').includes('error reading form: multipart: NextPart: EOF') &&
      sighting.all.some(({ at, reference }) => at === 'status' && reference === 200),
  },
  {
    id: 'compose onto a source',
    reason:
      'A source that is the destination under another name (another spelling, a link, a hard link) gets a 400, like the same name. The reference daemon compares only names, and may delete the result as one of its sources.',
    matches: ({ requests, difference: { at, ours }, all }) =>
      requests.some(({ target }) => target === '/files/compose') &&
      (/cannot be the same as destination/.test(JSON.stringify(all)) ||
        (at.startsWith('tree./') && ours !== undefined && requests.length === 1)),
  },
  {
    id: 'long names in a compose',
    reason:
      'The temporary file of a compose has a short name, so the destination may have any valid name; the reference daemon refuses long ones.',
    matches: (sighting) => {
      const body = sighting.requests.map((request) => (request.target === '/files/compose' ? request.body?.toString('latin1') : '')).join()
      return (
        /(n{200}|m{255}|(Ã©){127})/.test(body) &&
        (sighting.difference.at.startsWith('tree./') || /file name too long/.test(messageOf(sighting, 'reference')))
      )
    },
  },
  {
    id: 'text of malformed JSON',
    reason: 'The text after `invalid request body: ` comes from the JSON reader, which is a different one in each daemon.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'body.message' && String(ours).startsWith('invalid request body: ') && String(reference).startsWith('invalid request body: '),
  },
]

function isUpload(target: string): boolean {
  return /^\/files(\?|$)/.test(target)
}

function isGzip(headers: readonly (readonly [string, string])[]): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-encoding' && value === 'gzip')
}

/** A form that does not end with its last delimiter. */
function isCutForm({ headers, body }: WireRequest): boolean {
  const isForm = headers.some(([name, value]) => name === 'Content-Type' && value.startsWith('multipart/'))
  return isForm && body !== undefined && !/--\r?\n?$/.test(body.toString('latin1'))
}
