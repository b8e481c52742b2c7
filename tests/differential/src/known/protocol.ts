import { type KnownDifference, messageOf, type Sighting } from '../known-difference.ts'

const PREFIX = 'unmarshal message: '
/** Messages of the Connect library about headers, envelopes and compression, and those of the reference daemon for the same faults. */
const SAME_FAULTS: readonly (readonly [ours: RegExp, reference: RegExp])[] = [
  [/^protocol error: invalid connect timeout value/, /^parse timeout/],
  [/^protocol error: incomplete envelope/, /^protocol error: (incomplete envelope|promised \d+ bytes)/],
  [/^protocol error: missing input message/, /zero messages/],
  [/^protocol error: received extra input message/, /multiple messages/],
  [/^received compressed envelope/, /^protocol error: sent compressed message/],
  [/^decompress: /, /^(get decompressor|decompress): /],
]

/** Differences in the Connect protocol and in HTTP, independent of one operation. */
export const PROTOCOL_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'empty header',
    reason: 'An answer without a body has no `Content-Type`; the reference daemon sends an empty one with `/health`.',
    matches: ({ difference: { at, ours, reference } }) => at === 'headers.content-type' && ours === undefined && reference === '',
  },
  {
    id: 'E2B_SANDBOX',
    reason: 'The variables of every sandbox include `E2B_SANDBOX`; the reference daemon sets it only in a virtual machine.',
    matches: ({ difference: { at } }) => at === 'body.E2B_SANDBOX',
  },
  {
    id: 'protocol version',
    reason: '`Connect-Protocol-Version` is required, as the interface declares it; the reference daemon accepts calls without it.',
    matches: (sighting) => messageOf(sighting, 'ours').includes('missing required header: set Connect-Protocol-Version'),
  },
  {
    id: 'compression of small messages',
    reason:
      'Messages below 1 KiB are not compressed, since that costs more than it saves. The reference daemon compresses every message if the client accepts it.',
    matches: ({ difference: { at, ours, reference } }) =>
      (/^headers\.(connect-)?content-encoding$/.test(at) && ours === undefined && (reference === 'gzip' || reference === '')) ||
      (at.endsWith('.flags') && typeof ours === 'number' && reference === ours + 1),
  },
  {
    id: 'timeouts with a sign',
    reason: '`Connect-Timeout-Ms` has 1 to 10 digits; the reference daemon also accepts a sign before them.',
    matches: (sighting) =>
      headerOf(sighting, 'connect-timeout-ms')?.match(/^[-+]/) !== null &&
      messageOf(sighting, 'ours').includes('invalid connect timeout value'),
  },
  {
    id: 'expired on arrival',
    reason: 'A stream with an expired deadline at its start ends without a first message; in the reference daemon it sometimes has one.',
    matches: (sighting) =>
      /^0*[01]?$/.test(headerOf(sighting, 'connect-timeout-ms') ?? 'none') && sighting.difference.at.startsWith('body'),
  },
  {
    id: 'gRPC',
    reason:
      'gRPC, which needs HTTP/2, is not served: 415, as for every other type. The reference daemon takes it on HTTP/1.1. gRPC-Web is served.',
    matches: (sighting) =>
      /^application\/grpc(\+|;|$)/.test(headerOf(sighting, 'content-type') ?? '') ||
      (sighting.difference.at === 'headers.accept-post' && withoutGrpc(sighting.difference.reference) === sighting.difference.ours),
  },
  {
    id: 'gRPC-Web failures',
    reason:
      'A gRPC-Web call that fails at once has its error in the trailers, after the headers; the reference daemon has it in the headers. For clients both mean the same. The media type of an answer includes the format.',
    matches: ({ request, difference: { at } }) =>
      request?.headers.some(([name, value]) => name === 'Content-Type' && value.startsWith('application/grpc-web')) === true &&
      /^(body|headers\.(grpc-(message|status)|content-type))/.test(at),
  },
  {
    id: 'encodings of refusals',
    reason:
      'The answer to a call with an unknown user lists the accepted encodings, like every answer to a call; that of the reference daemon does not.',
    matches: ({ difference: { at, ours, reference } }) =>
      /^headers\.(\w+-)?accept-encoding$/.test(at) && ours === 'gzip' && reference === undefined,
  },
  {
    id: 'texts of the protocol library',
    reason:
      'Faults of headers, envelopes and compression have the same codes, but the messages of the Connect library; the reference daemon has the messages of its own library.',
    matches: ({ difference: { at, ours, reference } }) =>
      at.endsWith('message') &&
      SAME_FAULTS.some(([first, second]) => first.test(withoutInput(ours)) && second.test(withoutInput(reference))),
  },
  {
    id: 'charset of answers',
    reason: 'The media type of an answer has no charset; the reference daemon repeats that of the request.',
    matches: ({ difference: { at, ours, reference } }) => at === 'headers.content-type' && reference === `${String(ours)}; charset=utf-8`,
  },
  {
    id: 'unknown flags',
    reason: 'Unknown flags of an envelope are ignored; the reference daemon refuses the envelope.',
    matches: (sighting) => messageOf(sighting, 'reference').includes('invalid envelope flags'),
  },
  {
    id: 'limits of messages',
    reason:
      'A message of more than 1 MiB (32 MiB for processes) fails with `resource_exhausted`, also if only its announced length is larger; the reference daemon has no limit.',
    matches: (sighting) => /larger than/.test(messageOf(sighting, 'ours')),
  },
  {
    id: 'clients before 2024',
    reason:
      'The shortened entries for the first Python clients (`User-Agent: connect-python`) are not supported; no supported client needs them.',
    matches: (sighting) => headerOf(sighting, 'user-agent') === 'connect-python',
  },
  {
    id: 'keepalive of 0',
    reason: 'A `Keepalive-Ping-Interval` of 0 or less is ignored; it ends the whole process of the reference daemon.',
    matches: ({ requests }) =>
      requests.some(({ headers }) => headers.some(([name, value]) => name === 'Keepalive-Ping-Interval' && /^(0|-\d+)$/.test(value))),
  },
  {
    id: 'text of malformed messages',
    reason:
      'The text of the error for a malformed message comes from the JSON or protobuf reader, which is a different one in each daemon. The code is the same.',
    matches: ({ difference: { at, ours, reference }, all }) =>
      at.endsWith('message') && typeof ours === 'string' && isMalformed(reference) && !all.some((other) => other.at.endsWith('code')),
  },
  {
    id: 'deep nesting',
    reason: 'The limit for the nesting of unknown fields in JSON differs; the reference daemon refuses more than 10,000 levels.',
    matches: ({ request }) => request?.body?.includes('[[[[[[[[[[') === true,
  },
  {
    id: 'misplaced end of stream',
    reason:
      'A request that begins with an end-of-stream envelope is refused because it has no message; the reference daemon reads the envelope first.',
    matches: (sighting) => messageOf(sighting, 'ours').includes('missing input message'),
  },
  {
    id: 'not a directory',
    reason: 'The error for a watch of a file ends in `not a directory`; that of the reference daemon ends in a formatting artefact of Go.',
    matches: ({ difference: { reference } }) => String(reference).includes('%!w(<nil>)'),
  },
  {
    id: 'messages without an envelope',
    reason:
      'A stream request that is JSON without an envelope is accepted as its message, since no envelope begins with a brace; the reference daemon refuses it.',
    matches: (sighting) => messageOf(sighting, 'reference').includes('promised 577790324 bytes'),
  },
  {
    id: 'compressed nothing',
    reason:
      'A compressed stream message of zero bytes is an empty message, like an uncompressed one; the reference daemon refuses it in JSON.',
    matches: (sighting) => JSON.stringify(sighting.all).includes('zero-length payload is not a valid JSON object'),
  },
  {
    id: 'numbers as text',
    reason:
      'A number in a string may be hexadecimal, or have a plus sign or leading zeros, since the JSON reader of protobuf-es accepts them; the reference daemon refuses them.',
    matches: ({ request }) => /"depth":"(0x|\+)/.test(request?.body?.toString('latin1') ?? ''),
  },
  {
    id: 'wrong wire types',
    reason: 'A protobuf field with a wrong wire type fails with `invalid_argument`; the reference daemon treats it as an unknown field.',
    matches: (sighting) => messageOf(sighting, 'ours').startsWith('parse binary: premature EOF') && messageOf(sighting, 'reference') === '',
  },
  {
    id: 'unusual methods',
    reason:
      'An unknown HTTP method gets a 404 on an unknown path, and a 405 with `Allow` on a known one. The reference daemon returns 405 for every path if its router does not know the method.',
    matches: ({ request }) => request?.method === 'PROPFIND',
  },
  {
    id: 'lower-case methods',
    reason: 'A method in lower case is malformed HTTP and gets a 400, not a 405.',
    matches: ({ request }) => request?.method === 'get',
  },
  {
    id: 'undecodable paths',
    reason: 'A path with an invalid percent escape gets a 400 with a JSON body; the reference daemon sends plain text.',
    matches: ({ request }) => /%(?![0-9a-fA-F]{2})/.test(request?.target.split('?')[0] ?? ''),
  },
  {
    id: 'escaped paths of calls',
    reason: 'The path of a call is not decoded, so one with superfluous escapes gets a 404; the reference daemon decodes it first.',
    matches: ({ request }) => request?.target.includes('/%53tat') === true,
  },
]

function isMalformed(message: unknown): boolean {
  return withoutInput(message).startsWith(PREFIX)
}

/** Removes the prefix of errors from reading a stream of requests. */
function withoutInput(message: unknown): string {
  return String(message).replace(/^error streaming input: \w+: /, '')
}

function headerOf({ request }: Sighting, name: string): string | undefined {
  return request?.headers.find(([header]) => header.toLowerCase() === name)?.[1].trim()
}

function withoutGrpc(types: unknown): string {
  return String(types)
    .split(', ')
    .filter((type) => !/^application\/grpc(\+|;|$)/.test(type))
    .join(', ')
}
