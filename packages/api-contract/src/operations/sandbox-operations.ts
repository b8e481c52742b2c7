import type { Operation } from '../operation.ts'

/** Sandboxes, their logs and metrics, snapshots and forks (control-plane.md 6-8). */
export const sandboxOperations = [
  { id: 'listSandboxes', method: 'GET', path: '/sandboxes', auth: 'T', tag: 'sandboxes', deprecated: true, whileBlocked: true },
  { id: 'createSandbox', method: 'POST', path: '/sandboxes', auth: 'T', tag: 'sandboxes' },
  { id: 'listSandboxesV2', method: 'GET', path: '/v2/sandboxes', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  { id: 'createSandboxV2', method: 'POST', path: '/v2/sandboxes', auth: 'T', tag: 'sandboxes' },
  { id: 'listSandboxMetrics', method: 'GET', path: '/sandboxes/metrics', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  { id: 'getSandbox', method: 'GET', path: '/sandboxes/{sandboxID}', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  { id: 'killSandbox', method: 'DELETE', path: '/sandboxes/{sandboxID}', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  {
    id: 'getSandboxLogs',
    method: 'GET',
    path: '/sandboxes/{sandboxID}/logs',
    auth: 'T',
    tag: 'sandboxes',
    deprecated: true,
    whileBlocked: true,
  },
  { id: 'getSandboxLogsV2', method: 'GET', path: '/v2/sandboxes/{sandboxID}/logs', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  { id: 'getSandboxMetrics', method: 'GET', path: '/sandboxes/{sandboxID}/metrics', auth: 'T', tag: 'sandboxes', whileBlocked: true },
  { id: 'pauseSandbox', method: 'POST', path: '/sandboxes/{sandboxID}/pause', auth: 'T', tag: 'sandboxes' },
  { id: 'resumeSandbox', method: 'POST', path: '/sandboxes/{sandboxID}/resume', auth: 'T', tag: 'sandboxes', deprecated: true },
  { id: 'connectSandbox', method: 'POST', path: '/sandboxes/{sandboxID}/connect', auth: 'T', tag: 'sandboxes' },
  { id: 'connectSandboxV2', method: 'POST', path: '/v2/sandboxes/{sandboxID}/connect', auth: 'T', tag: 'sandboxes' },
  { id: 'setSandboxTimeout', method: 'POST', path: '/sandboxes/{sandboxID}/timeout', auth: 'T', tag: 'sandboxes' },
  { id: 'refreshSandbox', method: 'POST', path: '/sandboxes/{sandboxID}/refreshes', auth: 'T', tag: 'sandboxes' },
  { id: 'updateSandboxNetwork', method: 'PUT', path: '/sandboxes/{sandboxID}/network', auth: 'T', tag: 'sandboxes' },
  { id: 'forkSandbox', method: 'POST', path: '/sandboxes/{sandboxID}/fork', auth: 'T', tag: 'snapshots' },
  { id: 'createSnapshot', method: 'POST', path: '/sandboxes/{sandboxID}/snapshots', auth: 'T', tag: 'snapshots' },
  { id: 'listSnapshots', method: 'GET', path: '/snapshots', auth: 'T', tag: 'snapshots', whileBlocked: true },
] as const satisfies readonly Operation[]
