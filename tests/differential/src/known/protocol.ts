import type { KnownDifference } from '../known-difference.ts'

const PREFIX = 'unmarshal message: '

/** The Connect protocol. */
export const PROTOCOL_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'empty header',
    reason: 'An answer without a body has no `Content-Type`; the reference daemon sends an empty one with `/health`.',
    matches: ({ difference: { at, ours, reference } }) => at === 'headers.content-type' && ours === undefined && reference === '',
  },
  {
    id: 'E2B_SANDBOX',
    reason: 'A sandbox says so in its variables; the reference daemon does only where it finds a virtual machine around it.',
    matches: ({ difference: { at } }) => at === 'body.E2B_SANDBOX',
  },
  {
    id: 'text of malformed messages',
    reason: 'Behind `unmarshal message: ` stands what our JSON and protobuf readers say of the mistake, in their words.',
    matches: ({ difference: { at, ours, reference } }) =>
      at.endsWith('message') && String(ours).startsWith(PREFIX) && String(reference).startsWith(PREFIX),
  },
]
