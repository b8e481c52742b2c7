import { request } from 'node:http'
import type { SandboxEndpoint } from '@sandyard/runtime/types'

/** Long, so that a busy sandbox counts as responsive. */
const TIMEOUT_MS = 3000

/** Whether the daemon answers `/health`. Uses its own connection. */
export function isResponsive({ host, daemonPort: port }: SandboxEndpoint): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const call = request({ host, port, path: '/health', agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
    response.resume()
    resolve(response.statusCode === 204)
  })
  call.on('error', () => resolve(false))
  call.end()
  return promise
}
