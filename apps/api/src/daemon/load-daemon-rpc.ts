import { loadOnce } from '@sandyard/kit/async/load-once'

/**
 * The clients of daemons. Their libraries are a seventh of all that the control plane would load at its start, and only builds and the pages of
 * a sandbox in the dashboard need them.
 */
export const loadDaemonRpc = loadOnce(() => import('./daemon-rpc.ts'))
