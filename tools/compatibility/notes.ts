/** What a row's status alone does not say. A row with a `partial` note is never "done". */
export interface Note {
  readonly partial: boolean
  readonly text: string
}

const CREATE =
  'Served: `templateID`, `timeout`, `secure`, `metadata`, `envVars`, `Idempotency-Key`. A field of pausing, networking, volumes, MCP or identity that is not at its default is a 501 that names it.'

export const NOTES: Readonly<Record<string, Note>> = {
  'POST /sandboxes': { partial: true, text: CREATE },
  'POST /v2/sandboxes': { partial: true, text: CREATE },
  'POST /sandboxes/{sandboxID}/connect': { partial: true, text: 'Running sandboxes; there are no paused ones yet.' },
  'POST /v2/sandboxes/{sandboxID}/connect': { partial: true, text: 'Running sandboxes; there are no paused ones yet.' },
  'process.Process/Start': { partial: true, text: 'With pipes. With a `pty` it answers `unimplemented`.' },
  'daemon GET /metrics': { partial: true, text: 'Not collected yet: 501.' },
}
