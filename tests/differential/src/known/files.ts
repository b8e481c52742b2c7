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
    id: 'compressed forms cut short',
    reason:
      'Where the bytes of a compressed form end too early, the last of its text may come out of one decoder and not of another; the message says what was missing then.',
    matches: ({ request, difference: { at, ours, reference } }) =>
      request !== undefined &&
      isGzip(request.headers) &&
      at === 'body.message' &&
      [ours, reference].every((message) => String(message).endsWith('unexpected EOF')),
  },
  {
    id: 'forms without a last delimiter',
    reason:
      'A form that ends in the head of a part is an error, since nobody knows what is missing; the reference daemon takes it for complete and drops that part.',
    matches: (sighting) =>
      messageOf(sighting, 'ours').includes('error reading form: multipart: NextPart: EOF') &&
      sighting.all.some(({ at, reference }) => at === 'status' && reference === 200),
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
