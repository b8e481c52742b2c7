/** Facts about an operation that the routes and tests do not show. */
export interface Note {
  /** Overrides the status from the routes: something is missing, or the handler only refuses. */
  readonly status?: 'partial' | 'not yet'
  readonly text: string
}

const CREATE =
  'Served: `templateID`, `timeout`, `secure`, `metadata`, `envVars`, `Idempotency-Key`. A field of pausing, networking, volumes, MCP or identity with another value than its default gets a 501 that names it. ' +
  'Every new sandbox starts the start command of the template again, since images do not store memory, and the create waits for the ready command. A ready command that is exactly `sleep 20`, which clients send for none, is ignored.'

const BUILD =
  'Docker credentials are tested with a real registry. AWS credentials are tested with a substitute for the token service, Google credentials with a registry that has such an account: neither is tested with the real service. ' +
  'Package managers other than that of Debian are not tested with real mirrors. A build that cannot reach a package mirror logs a warning and continues without `sudo`.'

const DOCKERFILE =
  'The engine builds the text: several stages, ARG, ENV, USER, WORKDIR, `COPY --from`. COPY and ADD from a context, ADD of a URL, here-documents, `RUN --mount` and everything else that needs BuildKit get a 400 that names the line.'

export const NOTES: Readonly<Record<string, Note>> = {
  'POST /sandboxes': { status: 'partial', text: CREATE },
  'POST /v2/sandboxes': { status: 'partial', text: CREATE },
  'POST /templates': {
    text: `${DOCKERFILE} An empty text means that the client will push an image; there is no registry for pushes, so the start of such a build gets a 501.`,
  },
  'POST /templates/{templateID}': { text: `${DOCKERFILE} The build is queued at once.` },
  'POST /templates/{templateID}/builds/{buildID}': {
    text: 'For a build that a rebuild has queued: a 202 without an effect. Without a Dockerfile: a 501, since there is no registry for pushes.',
  },
  'POST /v2/templates/{templateID}/builds/{buildID}': { text: BUILD },
  'DELETE /templates/{templateID}': { text: 'A built-in template such as `base` gets a 400.' },
  'POST /sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes only; pausing is not served yet.' },
  'POST /v2/sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes only; pausing is not served yet.' },
  'daemon POST /init': {
    status: 'partial',
    text: '`volumeMounts` are checked, not mounted: a container gets its volumes when it is created. The clock is never set. In a sandbox the request needs our own header `X-Sandyard-Instance-Key` and field `identity` (docs/decisions/011-daemon-identity.md).',
  },
}
