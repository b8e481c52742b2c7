/** What the routes and tests alone do not say of an operation. */
export interface Note {
  /** Stands over what the routes say: something is missing, or the handler only refuses. */
  readonly status: 'partial' | 'not yet'
  readonly text: string
}

const CREATE =
  'Served: `templateID`, `timeout`, `secure`, `metadata`, `envVars`, `Idempotency-Key`. A field of pausing, networking, volumes, MCP or identity that is not at its default is a 501 that names it.'

export const NOTES: Readonly<Record<string, Note>> = {
  'POST /sandboxes': { status: 'partial', text: CREATE },
  'POST /v2/sandboxes': { status: 'partial', text: CREATE },
  'POST /sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes; there are no paused ones yet.' },
  'POST /v2/sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes; there are no paused ones yet.' },
  'daemon POST /init': {
    status: 'partial',
    text: '`volumeMounts` are looked for, not mounted: a container gets its volumes when it is created. The clock is never set.',
  },
}
