/** The sections of the description, in their order: the tags of the operations. */
export const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['sandboxes', 'Create, find, change and end sandboxes'],
  ['snapshots', 'Copies of the files of sandboxes, and forks'],
  ['templates', 'What sandboxes are created from'],
  ['builds', 'How templates are made'],
  ['tags', 'Names of the builds of a template'],
  ['volumes', 'Files that outlive sandboxes'],
  ['volume content', 'The files of a volume, with the token of the volume'],
  ['secrets', 'Values that are added to the requests of sandboxes on their way out'],
  ['events', 'What happened to sandboxes, and webhooks that tell it'],
  ['teams', 'The teams of a user, and their metrics'],
  ['api keys', 'The API keys of a team'],
  ['access tokens', 'The access tokens of a user'],
  ['dashboard backend', "What upstream's dashboard reads from its own backend. Not part of the interface of the control plane"],
  ['administration', 'For the operator of this server'],
  ['server', 'The state of this server'],
]

/** Where credentials go (control-plane.md 1.7). */
export const SECURITY_SCHEMES = {
  ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key of a team' },
  AccessTokenAuth: { type: 'http', scheme: 'bearer', description: 'An access token of a user' },
  AdminTokenAuth: { type: 'apiKey', in: 'header', name: 'X-Admin-Token', description: 'The token of the administrators' },
  TeamAuth: { type: 'apiKey', in: 'header', name: 'X-Team-ID', description: 'The team that a user or an administrator acts for' },
} as const
