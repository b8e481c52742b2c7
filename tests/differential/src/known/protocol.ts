import { type KnownDifference, messageOf, type Sighting } from '../known-difference.ts'

const PREFIX = 'unmarshal message: '

/** The Connect protocol, and what else is not of one operation. */
export const PROTOCOL_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'empty header',
    reason: 'An answer without a body has no `Content-Type`; the reference daemon sends an empty one with `/health`.',
    matches: ({ difference: { at, ours, reference } }) => at === 'headers.content-type' && ours === undefined && reference === '',
  },
  {
    id: 'E2B_SANDBOX',
    reason:
      'The variables of every sandbox have `E2B_SANDBOX`; the reference daemon sets it only where it finds a virtual machine around it.',
    matches: ({ difference: { at } }) => at === 'body.E2B_SANDBOX',
  },
  {
    id: 'protocol version',
    reason: '`Connect-Protocol-Version` is required, as the interface declares it; the reference daemon takes calls without it.',
    matches: (sighting) => messageOf(sighting, 'ours').includes('missing required header: set Connect-Protocol-Version'),
  },
  {
    id: 'compression of small messages',
    reason:
      'Messages below 1 KiB are not compressed: it would cost more than it saves. The reference daemon compresses every message when it may.',
    matches: ({ difference: { at, ours, reference } }) =>
      (/^headers\.(connect-)?content-encoding$/.test(at) && ours === undefined && (reference === 'gzip' || reference === '')) ||
      (at.endsWith('.flags') && typeof ours === 'number' && reference === ours + 1),
  },
  {
    id: 'timeouts with a sign',
    reason: '`Connect-Timeout-Ms` is 1 to 10 digits; the reference daemon also takes a sign before them.',
    matches: (sighting) =>
      headerOf(sighting, 'connect-timeout-ms')?.match(/^[-+]/) !== null && messageOf(sighting, 'ours').includes('parse timeout'),
  },
  {
    id: 'expired on arrival',
    reason: 'A stream whose time is over on arrival ends without a first message; in the reference daemon that is chance.',
    matches: (sighting) =>
      /^0*[01]?$/.test(headerOf(sighting, 'connect-timeout-ms') ?? 'none') && sighting.difference.at.startsWith('body'),
  },
  {
    id: 'gRPC',
    reason:
      'gRPC and gRPC-Web are not spoken, since no client speaks them: 415, as for every other type. The reference daemon takes both on HTTP/1.1.',
    matches: (sighting) =>
      headerOf(sighting, 'content-type')?.startsWith('application/grpc') === true ||
      (sighting.difference.at === 'headers.accept-post' && withoutGrpc(sighting.difference.reference) === sighting.difference.ours),
  },
  {
    id: 'clients before 2024',
    reason:
      'The shortened entries for the first Python clients (`User-Agent: connect-python`) are not made; no supported client asks for them.',
    matches: (sighting) => headerOf(sighting, 'user-agent') === 'connect-python',
  },
  {
    id: 'keepalive of 0',
    reason: 'A `Keepalive-Ping-Interval` of 0 or less counts as absent; it ends the whole reference daemon.',
    matches: ({ requests }) =>
      requests.some(({ headers }) => headers.some(([name, value]) => name === 'Keepalive-Ping-Interval' && /^(0|-\d+)$/.test(value))),
  },
  {
    id: 'text of malformed messages',
    reason:
      'After `unmarshal message: ` the mistake is described in the words of the JSON or protobuf reader, and the two daemons have different ones.',
    matches: ({ difference: { at, ours, reference } }) => at.endsWith('message') && isMalformed(ours) && isMalformed(reference),
  },
  {
    id: 'deep nesting',
    reason: 'How deep unknown fields of a JSON message may be nested differs; the reference daemon refuses more than 10,000 levels.',
    matches: ({ request }) => request?.body?.includes('[[[[[[[[[[') === true,
  },
  {
    id: 'misplaced end of stream',
    reason:
      'A request that begins with an end-of-stream envelope has no message, and is refused for that; the reference daemon reads the envelope first.',
    matches: (sighting) => messageOf(sighting, 'ours').includes('unary request has zero messages'),
  },
  {
    id: 'not a directory',
    reason:
      'The refusal to watch what is no directory ends in `not a directory`; the reference daemon ends it in a formatting artefact of Go.',
    matches: ({ difference: { reference } }) => String(reference).includes('%!w(<nil>)'),
  },
  {
    id: 'messages without an envelope',
    reason:
      'A stream request that is bare JSON counts as its message, since no envelope begins with a brace; the reference daemon refuses it.',
    matches: (sighting) => messageOf(sighting, 'reference').includes('promised 577790324 bytes'),
  },
  {
    id: 'compressed nothing',
    reason:
      'A compressed stream message of no bytes is an empty message, as one that is not compressed; the reference daemon refuses it in JSON.',
    matches: (sighting) => JSON.stringify(sighting.all).includes('zero-length payload is not a valid JSON object'),
  },
  {
    id: 'numbers as text',
    reason:
      'A number that is sent as text may be hexadecimal, or have a plus sign or leading zeros, since the JSON reader of protobuf-es takes that; the reference daemon refuses such a text.',
    matches: ({ request }) => /"depth":"(0x|\+)/.test(request?.body?.toString('latin1') ?? ''),
  },
  {
    id: 'wrong wire types',
    reason: 'A protobuf field of another wire type than its own is `invalid_argument`; to the reference daemon it is an unknown field.',
    matches: (sighting) =>
      messageOf(sighting, 'ours').startsWith('unmarshal message: premature EOF') && messageOf(sighting, 'reference') === '',
  },
  {
    id: 'unusual methods',
    reason:
      'A method that no route has is a 404 where there is no route, and else a 405 with `Allow`. For methods that its router does not know the reference daemon says 405 everywhere.',
    matches: ({ request }) => request?.method === 'PROPFIND',
  },
  {
    id: 'lower-case methods',
    reason: 'Methods are upper-case: others are malformed HTTP and a 400, not a 405.',
    matches: ({ request }) => request?.method === 'get',
  },
  {
    id: 'undecodable paths',
    reason: 'A path with a broken percent escape is a 400 with a JSON body; the reference daemon sends a text.',
    matches: ({ request }) => /%(?![0-9a-fA-F]{2})/.test(request?.target.split('?')[0] ?? ''),
  },
  {
    id: 'escaped paths of calls',
    reason: 'The path of a call counts as it was sent, so one with needless escapes is a 404; the reference daemon decodes it first.',
    matches: ({ request }) => request?.target.includes('/%53tat') === true,
  },
]

/** Also as a failure of reading a stream of requests. */
function isMalformed(message: unknown): boolean {
  return String(message).replace('error streaming input: invalid_argument: ', '').startsWith(PREFIX)
}

function headerOf({ request }: Sighting, name: string): string | undefined {
  return request?.headers.find(([header]) => header.toLowerCase() === name)?.[1].trim()
}

function withoutGrpc(types: unknown): string {
  return String(types)
    .split(', ')
    .filter((type) => !type.startsWith('application/grpc'))
    .join(', ')
}
