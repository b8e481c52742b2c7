/** What the routes and tests alone do not say of an operation. */
export interface Note {
  /** Stands over what the routes say: something is missing, or the handler only refuses. */
  readonly status?: 'partial' | 'not yet'
  readonly text: string
}

const CREATE =
  'Served: `templateID`, `timeout`, `secure`, `metadata`, `envVars`, `Idempotency-Key`. A field of pausing, networking, volumes, MCP or identity that is not at its default is a 501 that names it. ' +
  'The start command of the template is started in every sandbox anew, since memory is not kept, and the create waits for its ready command; one that is exactly `sleep 20`, which clients send for none, is not waited for.'

const BUILD =
  'Docker credentials are tested on a real registry. AWS credentials are tested on a stand-in for the service that gives out passwords, Google ones on a registry with such an account: both are untried on the real ones. ' +
  'Packages of other families than Debian are untried too. A build that no package mirror is reached from says so in its log and goes on without `sudo`.'

const DOCKERFILE =
  'The text is built by the engine: several stages, ARG, ENV, USER, WORKDIR, `COPY --from`. COPY and ADD from a context, ADD of a URL, here-documents, `RUN --mount` and whatever else needs BuildKit are a 400 that names the line.'

export const NOTES: Readonly<Record<string, Note>> = {
  'POST /sandboxes': { status: 'partial', text: CREATE },
  'POST /v2/sandboxes': { status: 'partial', text: CREATE },
  'POST /templates': {
    text: `${DOCKERFILE} An empty one waits for an image to be pushed; there is no registry to push to, so its start is a 501.`,
  },
  'POST /templates/{templateID}': { text: `${DOCKERFILE} The build is queued with the answer.` },
  'POST /templates/{templateID}/builds/{buildID}': {
    text: 'On a build that a rebuild has queued: a 202 that changes nothing. Without a Dockerfile: a 501, since there is no registry to push to.',
  },
  'POST /v2/templates/{templateID}/builds/{buildID}': { text: BUILD },
  'DELETE /templates/{templateID}': { text: 'A template that the server brings along, such as `base`, is a 400.' },
  'POST /sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes; there are no paused ones yet.' },
  'POST /v2/sandboxes/{sandboxID}/connect': { status: 'partial', text: 'Running sandboxes; there are no paused ones yet.' },
  'daemon POST /init': {
    status: 'partial',
    text: '`volumeMounts` are looked for, not mounted: a container gets its volumes when it is created. The clock is never set.',
  },
}
