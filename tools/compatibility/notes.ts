/** Facts about an operation that the routes and tests do not show. */
export interface Note {
  /** Overrides the status from the routes: something is missing, or the handler only refuses. */
  readonly status?: 'partial' | 'not yet'
  readonly text: string
}

const CREATE =
  'Every field is checked with the texts of the interface. Those that nothing enforces get a 501 that names them, after all other checks, and nothing is stored: `allow_internet_access: false` and `network.denyOut` where the runtime has no egress policies; domains in `network.allowOut`, `network.egressProxy`, ' +
  '`network.dnsServers` and `network.rules` where there is no egress gateway. IPv6 entries are kept and have no effect, since sandboxes have no IPv6. `network.rules` need `/etc/ssl/certs/ca-certificates.crt` in the image. ' +
  '`volumeMounts` are volumes of the engine, with an optional `readOnly` of ours; such a create gets no sandbox of the warm pool. Identity tokens of `iam` are added by network rules. ' +
  '`mcp` is stored, and the names of its servers are in the history; the template `mcp-gateway` serves them (docs/mcp-gateway.md). ' +
  'Every new sandbox starts the start command of the template again, since images do not store memory, and the create waits for the ready command, or gets a sandbox of the warm pool where it has run already. It never sees the variables of the create request. A create that the host has no room for waits some seconds and gets the documented 503, whose message ends with the reason. A ready command that is exactly `sleep 20`, which clients send for none, is ignored.'

const BUILD =
  'Docker credentials are tested with a real registry. AWS credentials are tested with a substitute for the token service, Google credentials with a registry that has such an account: neither is tested with the real service. ' +
  'Package managers other than that of Debian are not tested with real mirrors. A build that cannot reach a package mirror logs a warning and continues without `sudo`.'

const DOCKERFILE =
  'The engine builds the text: several stages, ARG, ENV, USER, WORKDIR, `COPY --from`. COPY and ADD from a context, ADD of a URL, here-documents, `RUN --mount` and everything else that needs BuildKit get a 400 that names the line.'

const EGRESS =
  'Works on running and on paused sandboxes, and waits for a pause, a resume or a snapshot (upstream refuses these with 404 and 409). It is answered when the policy is in force, which ends open connections that it denies. If the runtime fails, ' +
  'the answer is a 500 with `Should-Retry: true`; the policy stays stored and is put in force later. Of updates at the same time the last one stored is in force. The same fields as at create get a 501. Rules that the trust store of a running sandbox cannot serve are a 400.'

const EVENTS =
  'An operation of Sandyard, not of the interface: every change of a sandbox with its actor (key, user, administrator, timeout, traffic, server), oldest first. Continue with `after`, the `place` of the last event: ' +
  'places only grow, and no event appears before a place that was returned. Events are kept while the sandbox lives and for 30 days after its end.'

const LIFECYCLE =
  'A view of the same events in the form of the hosted service: `sandbox.lifecycle.created`, `updated`, `paused`, `resumed`, `checkpointed` and `killed`. `eventData` also has the actor.'

const KILL =
  'Answered as soon as the sandbox is unreachable; the engine removes it afterwards. From then on the sandbox does not exist for its team: a second DELETE is a 404. Concurrent ones are all a 204.'

const PAUSE =
  'A pause with memory freezes the processes. If the engine or the host restarts, such a sandbox keeps its files only, and its history says so; the same happens to the longest-paused ones when paused sandboxes need more than `SANDYARD_PAUSED_MEMORY` of the memory of the host. ' +
  'A pause that fails leaves the sandbox running (upstream it is gone). `requireHealthyGuest` is served.'

const RESUME =
  'A resume from files starts the processes of the template anew: its variables and its start command, without the variables of the create request. A resume that fails leaves the sandbox paused. Resuming without memory (`memory: false`) is always enabled.'

const SNAPSHOT =
  'Keeps the files of one instant, no memory: the sandbox stands still meanwhile and runs on. `memory: true` is a 501. A sandbox that is created from it starts the start command of the template anew.'

const FORK =
  'Forks start from the files of one instant, without memory and without the variables of the create request. Those above the limit of the team are errors in the answer.'

export const NOTES: Readonly<Record<string, Note>> = {
  'POST /sandboxes': { text: CREATE },
  'POST /v2/sandboxes': { text: CREATE },
  'PUT /sandboxes/{sandboxID}/network': { text: EGRESS },
  'GET /sandboxes/{sandboxID}/events': { text: EVENTS },
  'GET /events/sandboxes': { text: LIFECYCLE },
  'GET /events/sandboxes/{sandboxID}': { text: LIFECYCLE },
  'POST /templates': {
    text: `${DOCKERFILE} An empty text means that the client will push an image; there is no registry for pushes, so the start of such a build gets a 501.`,
  },
  'POST /templates/{templateID}': { text: `${DOCKERFILE} The build is queued at once.` },
  'POST /templates/{templateID}/builds/{buildID}': {
    text: 'For a build that a rebuild has queued: a 202 without an effect. Without a Dockerfile: a 501, since there is no registry for pushes.',
  },
  'POST /v2/templates/{templateID}/builds/{buildID}': { text: BUILD },
  'DELETE /templates/{templateID}': { text: 'A built-in template such as `base` gets a 400.' },
  'DELETE /sandboxes/{sandboxID}': { text: KILL },
  'POST /sandboxes/{sandboxID}/pause': { text: PAUSE },
  'POST /sandboxes/{sandboxID}/resume': { text: RESUME },
  'POST /sandboxes/{sandboxID}/connect': { text: RESUME },
  'POST /v2/sandboxes/{sandboxID}/connect': { text: RESUME },
  'POST /sandboxes/{sandboxID}/snapshots': { text: SNAPSHOT },
  'POST /sandboxes/{sandboxID}/fork': { text: FORK },
  'PATCH /api-keys/{apiKeyID}': {
    text: 'A 202 without a body, as upstream answers. `expiresAt` and `scope` of keys are ours: docs/keys.md.',
  },
  'GET /nodes': {
    text: 'A node is a server of the control plane; the figures of the machine are those of the host of the engine. `status` `draining` or `standby` is set with `POST /nodes/{nodeID}`.',
  },
  'POST /volumes': {
    text: 'A volume of the engine. Its bytes are counted, and a team has a limit for them (`SANDYARD_MAX_STORED`); what sandboxes write is not limited, because the local driver of Docker has no quota.',
  },
  'GET /secrets': { text: 'Without a key outside of the database (docs/secrets.md) the operations of secrets answer the documented 403.' },
  'POST /events/webhooks': { text: 'As the hosted service, with retries, dead letters and a resend: docs/webhooks.md.' },
  'GET /dashboard-api/sandboxes/{sandboxID}/record': {
    text: "An operation of the backend of upstream's dashboard, as all under `/dashboard-api`: not part of the interface. The record is there as long as the history of the sandbox is; `retentionExpired` says that its log and metrics are gone.",
  },
  'GET /dashboard-api/templates': { text: '`defaultDescription` is always null: default templates have no description here.' },
  'daemon POST /init': {
    text: '`volumeMounts` are checked, not mounted: a container gets its volumes when it is created. The clock is never set. In a sandbox the request needs our own header `X-Sandyard-Instance-Key` and field `identity` (docs/decisions/011-daemon-identity.md).',
  },
}
