import { type KnownDifference, messageOf } from '../known-difference.ts'
import type { WireRequest } from '../wire/exchange.ts'

/** Transfer of files. */
export const FILE_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'type of upload answers',
    reason:
      'The JSON that an upload answers with is declared as `application/json; charset=utf-8`; the reference daemon lets it go as text.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'headers.content-type' && ours === 'application/json; charset=utf-8' && reference === 'text/plain; charset=utf-8',
  },
  {
    id: 'FIFOs and sockets',
    reason:
      'A path that is a FIFO or a socket is refused with 400. The reference daemon waits in vain for whoever reads or writes at the other end of a FIFO, and reports a failed open of a socket with 500.',
    matches: (sighting) =>
      /is not a regular file/.test(messageOf(sighting, 'ours')) ||
      (/(fifo|socket)/.test(sighting.request?.target ?? '') &&
        sighting.all.some(({ at, reference }) => at === 'end' && reference === 'late')),
  },
  {
    id: 'files without a size',
    reason:
      'Files below `/proc` and `/sys` are read to their end, whatever size they claim. The reference daemon answers 500, nothing, or a length that does not come.',
    matches: ({ request }) => /^\/files\?path=(%2F|\/)(proc|sys)/.test(request?.target ?? '') && request?.method === 'GET',
  },
  {
    id: 'uploads cut short',
    reason:
      'Of an upload that ends too early what arrived is kept, to the last byte; how much of it the reference daemon keeps depends on its buffers.',
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
    id: 'compose onto a source',
    reason:
      'A source that is the destination under another name (another spelling, a link, a hard link) is a 400, as for the same name. The reference daemon compares names only, and may delete the result as its own source.',
    matches: ({ requests, difference: { at, ours }, all }) =>
      requests.some(({ target }) => target === '/files/compose') &&
      (/cannot be the same as destination/.test(JSON.stringify(all)) ||
        (at.startsWith('tree./') && ours !== undefined && requests.length === 1)),
  },
  {
    id: 'long names in a compose',
    reason: 'The temporary file of a compose has a short name, so a destination may have any name that a file can have.',
    matches: (sighting) => {
      const body = sighting.requests.map((request) => (request.target === '/files/compose' ? request.body?.toString('latin1') : '')).join()
      return (
        /(n{200}|m{255}|(Ã©){127})/.test(body) &&
        (sighting.difference.at.startsWith('tree./') || /file name too long/.test(messageOf(sighting, 'reference')))
      )
    },
  },
  {
    id: 'forms cut short',
    reason:
      'A form without its last delimiter is an error, since nobody knows what is missing; the reference daemon takes one that ends in the head of a part for complete. The words for what is broken differ.',
    matches: (sighting) =>
      /^error (reading form|writing file): (multipart: |unexpected EOF)/.test(messageOf(sighting, 'ours')) ||
      /error reading form: multipart: NextPart: EOF/.test(messageOf(sighting, 'ours')),
  },
  {
    id: 'names of failed calls',
    reason:
      'Where metadata does not fit, the message names the system call and the file; the reference daemon names a function of a Go library.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'body.message' && String(ours).includes(': setxattr ') && String(reference).includes(': xattr.FSet '),
  },
  {
    id: 'type of a path with a trailing slash',
    reason:
      'The type of a compressed download comes from the name of the file; a slash behind it hides the name from the reference daemon.',
    matches: ({ difference: { at }, request }) => at === 'headers.content-type' && request?.target.endsWith('%2F') === true,
  },
  {
    id: 'weights with spaces',
    reason: 'A weight in `Accept-Encoding` may stand behind a space (`q= 0`); to the reference daemon it is none, and counts as 1.',
    matches: (sighting) => sighting.request?.headers.some(([name, value]) => name === 'Accept-Encoding' && value.includes('q= 0')) === true,
  },
  {
    id: 'files of 1970',
    reason:
      'A file whose time is the epoch has no `Last-Modified`, so `If-Range` with that date does not match; the reference daemon lets it.',
    matches: ({ request }) => request?.target.includes('epoch') === true && request.headers.some(([name]) => name === 'If-Range'),
  },
  {
    id: 'text of malformed JSON',
    reason: 'Behind `invalid request body: ` stands what our JSON reader says of the mistake, in its words.',
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

/** A form whose last bytes are not its last delimiter. */
function isCutForm({ headers, body }: WireRequest): boolean {
  const isForm = headers.some(([name, value]) => name === 'Content-Type' && value.startsWith('multipart/'))
  return isForm && body !== undefined && !/--\r?\n?$/.test(body.toString('latin1'))
}
