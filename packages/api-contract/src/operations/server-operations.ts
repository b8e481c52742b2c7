import type { Operation } from '../operation.ts'

/** Health, teams, credentials, nodes and administration (control-plane.md 5, 13, 14). */
export const serverOperations = [
  { id: 'getHealth', method: 'GET', path: '/health', auth: 'none', tag: 'server', summary: 'Check that the server answers' },
  { id: 'listTeams', method: 'GET', path: '/teams', auth: 'G', tag: 'teams', changes: true, summary: 'List the teams of the user' },
  {
    id: 'getTeamMetrics',
    method: 'GET',
    path: '/teams/{teamID}/metrics',
    auth: 'T',
    tag: 'teams',
    whileBlocked: true,
    summary: 'Get the metrics of a team over time',
  },
  {
    id: 'getTeamMetricsMax',
    method: 'GET',
    path: '/teams/{teamID}/metrics/max',
    auth: 'T',
    tag: 'teams',
    whileBlocked: true,
    summary: 'Get the highest value of a metric of a team',
  },
  { id: 'createAccessToken', method: 'POST', path: '/access-tokens', auth: 'P', tag: 'access tokens', deprecated: true },
  { id: 'deleteAccessToken', method: 'DELETE', path: '/access-tokens/{accessTokenID}', auth: 'P', tag: 'access tokens' },
  { id: 'listApiKeys', method: 'GET', path: '/api-keys', auth: 'K', tag: 'api keys', whileBlocked: true },
  { id: 'createApiKey', method: 'POST', path: '/api-keys', auth: 'PT', tag: 'api keys' },
  { id: 'updateApiKey', method: 'PATCH', path: '/api-keys/{apiKeyID}', auth: 'K', tag: 'api keys' },
  { id: 'deleteApiKey', method: 'DELETE', path: '/api-keys/{apiKeyID}', auth: 'K', tag: 'api keys', whileBlocked: true },
  { id: 'listNodes', method: 'GET', path: '/nodes', auth: 'A', tag: 'administration' },
  { id: 'getNode', method: 'GET', path: '/nodes/{nodeID}', auth: 'A', tag: 'administration' },
  { id: 'updateNode', method: 'POST', path: '/nodes/{nodeID}', auth: 'A', tag: 'administration' },
  { id: 'killTeamSandboxes', method: 'POST', path: '/admin/teams/{teamID}/sandboxes/kill', auth: 'A', tag: 'administration' },
  { id: 'getRunningCounts', method: 'GET', path: '/admin/sandboxes/running-counts', auth: 'A', tag: 'administration' },
  { id: 'cancelTeamBuilds', method: 'POST', path: '/admin/teams/{teamID}/builds/cancel', auth: 'A', tag: 'administration' },
  { id: 'createTeamApiKey', method: 'POST', path: '/admin/teams/{teamID}/api-keys', auth: 'A', tag: 'administration' },
  { id: 'deleteTeamApiKey', method: 'DELETE', path: '/admin/teams/{teamID}/api-keys/{apiKeyID}', auth: 'A', tag: 'administration' },
] as const satisfies readonly Operation[]
